#ifndef ATTEND_SERVER_GRPC_RAW_SERVICE_H_
#define ATTEND_SERVER_GRPC_RAW_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "attend/v1/attend.grpc.pb.h"

namespace attend {

// The service with messages as bytes. Where gRPC parses them itself, a message
// that is not one ends as INTERNAL before our code sees the call; but it is the
// client's mistake.
template <class Service>
using RawMethods = v1::Attend::WithRawMethod_Generate<
    v1::Attend::WithRawMethod_GenerateStream<v1::Attend::WithRawMethod_Score<
        v1::Attend::WithRawMethod_Embed<v1::Attend::WithRawMethod_Classify<
            v1::Attend::WithRawMethod_FillMask<v1::Attend::WithRawMethod_Rerank<
                v1::Attend::WithRawMethod_Tokenize<
                    v1::Attend::WithRawMethod_Detokenize<
                        v1::Attend::WithRawMethod_ListModels<
                            v1::Attend::WithRawMethod_GetModel<
                                Service>>>>>>>>>>>;
using RawService = RawMethods<v1::Attend::Service>;

// Takes the bytes. INVALID_ARGUMENT if they are not a message of that type, or
// a string in it is not UTF-8.
absl::Status ParseMessage(grpc::ByteBuffer& bytes,
                          google::protobuf::Message& message);

grpc::ByteBuffer ToBytes(const google::protobuf::Message& message);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RAW_SERVICE_H_
