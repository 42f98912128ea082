#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <string>

#include "extended.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "server/reflection/methods.h"
#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Request = grpc::reflection::v1::ServerReflectionRequest;
using Response = grpc::reflection::v1::ServerReflectionResponse;

class ReflectionTest : public ServiceFixture {
 protected:
  ReflectionTest() : ServiceFixture(ReflectionMethods()) {
    service_.methods = AttendMethods();
    Build({});
  }
  Response Ask(const Request& request) {
    LocalCall call = NewCall("ServerReflectionInfo", request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus());
    const auto answers = call.answers<Response>();
    EXPECT_EQ(answers.size(), 1);
    return answers.at(0);
  }
  Response AskForSymbol(const std::string& symbol) {
    Request request;
    request.set_file_containing_symbol(symbol);
    return Ask(request);
  }
};

// What a client makes of an answer. Files come before those that they need.
void AddFiles(const Response& response, google::protobuf::DescriptorPool& to) {
  const auto& files =
      response.file_descriptor_response().file_descriptor_proto();
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    google::protobuf::FileDescriptorProto proto;
    ASSERT_TRUE(proto.ParseFromString(*file));
    ASSERT_NE(to.BuildFile(proto), nullptr) << proto.name();
  }
}

TEST_F(ReflectionTest, ServicesAreListedOnce) {
  Request request;
  request.set_host("a host");
  request.set_list_services("whatever");
  const Response response = Ask(request);
  EXPECT_EQ(response.valid_host(), "a host");
  EXPECT_EQ(response.original_request().list_services(), "whatever");
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
  }
  EXPECT_THAT(names, ElementsAre("attend.v1.Attend", "grpc.health.v1.Health"));
}

TEST_F(ReflectionTest, FilesComeWithAllThatTheyNeed) {
  for (const std::string name : {"attend.v1.Attend", "grpc.health.v1.Health"}) {
    google::protobuf::DescriptorPool pool;
    AddFiles(AskForSymbol(name), pool);
    const auto* service = pool.FindServiceByName(name);
    ASSERT_NE(service, nullptr) << name;
    EXPECT_GT(service->method(0)->input_type()->field_count(), 0);
  }
  google::protobuf::DescriptorPool pool;
  AddFiles(AskForSymbol("attend.v1.Attend.Generate"), pool);
  Request request;
  request.set_file_by_filename("attend/v1/attend.proto");
  EXPECT_EQ(Ask(request).file_descriptor_response().SerializeAsString(),
            AskForSymbol("attend.v1.Attend")
                .file_descriptor_response()
                .SerializeAsString());
}

TEST_F(ReflectionTest, Extensions) {
  ASSERT_EQ(test::extra.number(), 107);  // the file is linked
  Request request;
  request.set_all_extension_numbers_of_type("attend.test.Extended");
  const auto numbers = Ask(request).all_extension_numbers_response();
  EXPECT_EQ(numbers.base_type_name(), "attend.test.Extended");
  EXPECT_THAT(numbers.extension_number(), ElementsAre(107));
  auto& wanted = *request.mutable_file_containing_extension();
  wanted.set_containing_type("attend.test.Extended");
  wanted.set_extension_number(107);
  google::protobuf::DescriptorPool pool;
  AddFiles(Ask(request), pool);
  EXPECT_NE(pool.FindExtensionByName("attend.test.extra"), nullptr);
}

TEST_F(ReflectionTest, WhatIsNotThereIsSaidInAnAnswer) {
  std::vector<Request> requests(6);
  requests[0].set_file_by_filename("../attend.proto");
  requests[1].set_file_containing_symbol("attend.v1.Nothing");
  requests[2].set_all_extension_numbers_of_type("attend.v1.Nothing");
  requests[3].mutable_file_containing_extension()->set_containing_type(
      "attend.v1.Nothing");
  requests[4].mutable_file_containing_extension()->set_containing_type(
      "attend.v1.Model");
  requests[5].set_file_containing_symbol("");
  for (const Request& request : requests) {
    const Response response = Ask(request);
    EXPECT_EQ(response.error_response().error_code(), 5)
        << request.DebugString();
    EXPECT_THAT(response.error_response().error_message(),
                HasSubstr("there is no such"));
  }
  const Response response = Ask({});
  EXPECT_EQ(response.error_response().error_code(), 3);
  EXPECT_EQ(response.error_response().error_message(),
            "message_request is not set");
}

}  // namespace
}  // namespace attend
