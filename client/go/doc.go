// Package attend is a client of Attend, a server of transformer models on CPUs.
//
//	client, err := attend.NewClient("localhost:50051")
//	for part, err := range client.TranslateStream(ctx, "How are you?") {
//		fmt.Print(part)
//	}
//
// Requests and results are the messages of package attendv1; docs/api.md of
// Attend's repository has the meaning of their fields. Each method takes
// functions that set fields of its request:
//
//	client.Generate(ctx, attend.Texts("How are you?"),
//		func(r *attendv1.GenerateRequest) {
//			r.Params = &attendv1.GenerationParams{NumBeams: proto.Int32(4)}
//		})
//
// Results come in the order of the inputs. If some inputs fail, the error is that
// of the first of them, and the results are returned, too; each has a Status.
//
// A call ends with the context's deadline, or else after the client's timeout.
// To send more metadata, such as x-request-id, put it into the context with
// package google.golang.org/grpc/metadata.
package attend
