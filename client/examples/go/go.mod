module example.org/calls

go 1.23.0

require (
	attend.internal/attend v0.0.0
	google.golang.org/protobuf v1.36.11
)
