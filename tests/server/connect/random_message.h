#ifndef ATTEND_TESTS_SERVER_CONNECT_RANDOM_MESSAGE_H_
#define ATTEND_TESTS_SERVER_CONNECT_RANDOM_MESSAGE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>

#include <random>
#include <string>

namespace attend {

// Sets fields of messages to values of all kinds.
class RandomMessage {
 public:
  explicit RandomMessage(uint32_t seed) : random_(seed) {}

  void Fill(google::protobuf::Message& message) {
    const auto& descriptor = *message.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const auto& field = *descriptor.field(i);
      const auto* oneof = field.real_containing_oneof();
      if (oneof != nullptr &&
          message.GetReflection()->HasOneof(message, oneof)) {
        continue;
      }
      const int values = field.is_repeated() ? Below(4) : Below(2);
      for (int n = 0; n < values; ++n) Put(message, field);
    }
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  int Below(int limit) { return static_cast<int>(random_() % limit); }
  template <class Number>
  Number Any() {
    switch (Below(4)) {
      case 0:
        return std::numeric_limits<Number>::lowest();
      case 1:
        return std::numeric_limits<Number>::max();
      default:
        return static_cast<Number>(random_());
    }
  }
  template <class Number>
  Number Real() {
    if (Below(8) == 0) return std::numeric_limits<Number>::quiet_NaN();
    if (Below(8) == 0) return -std::numeric_limits<Number>::infinity();
    return Any<Number>() / 3;
  }
  std::string Text() {
    static const char* const kTexts[] = {"", "abc", "\"\\/\b\n\x01", "ä€😀"};
    return kTexts[Below(4)];
  }

  void Put(google::protobuf::Message& message, const Field& field) {
    const auto& r = *message.GetReflection();
    const bool add = field.is_repeated();
    const auto put = [&](auto set, auto insert, auto value) {
      if (add) {
        (r.*insert)(&message, &field, value);
      } else {
        (r.*set)(&message, &field, value);
      }
    };
    using R = google::protobuf::Reflection;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return put(&R::SetInt32, &R::AddInt32, Any<int32_t>());
      case Field::CPPTYPE_INT64:
        return put(&R::SetInt64, &R::AddInt64, Any<int64_t>());
      case Field::CPPTYPE_UINT32:
        return put(&R::SetUInt32, &R::AddUInt32, Any<uint32_t>());
      case Field::CPPTYPE_UINT64:
        return put(&R::SetUInt64, &R::AddUInt64, Any<uint64_t>());
      case Field::CPPTYPE_DOUBLE:
        return put(&R::SetDouble, &R::AddDouble, Real<double>());
      case Field::CPPTYPE_FLOAT:
        return put(&R::SetFloat, &R::AddFloat, Real<float>());
      case Field::CPPTYPE_BOOL:
        return put(&R::SetBool, &R::AddBool, Below(2) == 1);
      case Field::CPPTYPE_STRING:
        return put(&R::SetString, &R::AddString, Text());
      case Field::CPPTYPE_ENUM: {
        const auto& type = *field.enum_type();
        return put(&R::SetEnum, &R::AddEnum,
                   type.value(Below(type.value_count())));
      }
      case Field::CPPTYPE_MESSAGE: {
        auto& part = add ? *r.AddMessage(&message, &field)
                         : *r.MutableMessage(&message, &field);
        using google::protobuf::Duration;
        if (part.GetDescriptor() != Duration::descriptor()) return Fill(part);
        part.CopyFrom(Time());
      }
    }
  }
  google::protobuf::Duration Time() {
    google::protobuf::Duration time;
    const int sign = Below(2) == 0 ? 1 : -1;
    time.set_seconds(sign * (Below(2) == 0 ? Below(9) : 315'576'000'000));
    time.set_nanos(sign * (Below(2) == 0 ? 0 : Below(1'000'000'000)));
    return time;
  }

  std::mt19937 random_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_CONNECT_RANDOM_MESSAGE_H_
