module example.org/calls

go 1.24

require (
	google.golang.org/grpc v1.81.0
	google.golang.org/protobuf v1.36.11
)
