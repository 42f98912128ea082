// The lists among the defaults of generation.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/shared/default_reader.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using When = MissingDefault::When;

// Sets a list, or drops it: a request adds to the lists of the model.
template <class T>
void SetList(absl::string_view key, T GenerationParams::*field,
             absl::StatusOr<T> value, DefaultReader& reader,
             GenerationParams& params) {
  if (!reader.Has(key)) return;
  if (value.ok()) {
    reader.Set("", field, *std::move(value), When::kAlways, params);
  } else {
    reader.Drop("", value.status(), When::kAlways);
  }
}

absl::StatusOr<std::vector<SequenceBias>> BiasesOf(
    const DefaultReader& reader) {
  constexpr char kKey[] = "sequence_bias";
  std::vector<SequenceBias> biases;
  if (!reader.Has(kKey)) return biases;
  ASSIGN_OR_RETURN(auto pairs,
                   reader.file().IntListsWithNumbers(kKey, reader.ids()));
  biases.reserve(pairs.size());
  for (auto& [ids, bias] : pairs) {
    biases.push_back({std::move(ids), static_cast<float>(bias)});
  }
  return biases;
}

absl::StatusOr<std::vector<std::vector<int>>> BadWordsOf(
    const DefaultReader& reader) {
  constexpr char kKey[] = "bad_words_ids";
  ASSIGN_OR_RETURN(auto words, reader.file().IntLists(kKey, reader.ids()));
  std::erase_if(words, [](const auto& word) { return word.empty(); });
  return words;
}

}  // namespace

void ReadDefaultLists(DefaultReader& reader, GenerationParams& params) {
  using P = GenerationParams;
  const JsonFile& file = reader.file();
  SetList("suppress_tokens", &P::suppress_tokens,
          reader.KnownIds("suppress_tokens"), reader, params);
  SetList("begin_suppress_tokens", &P::begin_suppress_tokens,
          reader.KnownIds("begin_suppress_tokens"), reader, params);
  SetList("sequence_bias", &P::sequence_bias, BiasesOf(reader), reader, params);
  SetList("bad_words_ids", &P::bad_words, BadWordsOf(reader), reader, params);
  SetList("stop_strings", &P::stop_strings, file.Strings("stop_strings"),
          reader, params);
  SetList("eos_token_id", &P::eos_ids, reader.KnownIds("eos_token_id"), reader,
          params);
}

}  // namespace attend
