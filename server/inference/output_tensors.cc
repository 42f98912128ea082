#include "server/inference/output_tensors.h"

#include <algorithm>

namespace attend {

bool OutputTensors::Wants(absl::string_view name) const {
  return std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
}

void OutputTensors::Add(absl::string_view name, Shape shape,
                        const std::vector<std::string>& texts) {
  std::string raw;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    raw.append(reinterpret_cast<const char*>(&length), sizeof(length));
    raw.append(text);
  }
  AddRaw(name, "BYTES", std::move(shape), std::move(raw));
}

void OutputTensors::AddRaw(absl::string_view name, absl::string_view datatype,
                           Shape shape, std::string raw) {
  if (!Wants(name)) return;
  auto& output = *response_.add_outputs();
  output.set_name(std::string(name));
  output.set_datatype(std::string(datatype));
  output.mutable_shape()->Add(shape.begin(), shape.end());
  *response_.add_raw_output_contents() = std::move(raw);
}

}  // namespace attend
