#include "engine/tokenizer/gguf/pre_tokenizers.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// Parts of the patterns below, which are those of the models' tokenizer.json.
// Characters beyond ASCII are numbers there: some would become others if this
// text were normalised.
#define ATTEND_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define ATTEND_SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define ATTEND_UPPER R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define ATTEND_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define ATTEND_ASCII_MARKS R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"

constexpr char kGpt2[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";
constexpr char kDigit[] = R"(\p{N})";
constexpr char kThreeDigits[] = R"(\p{N}{1,3})";
constexpr char kLlama3[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kQwen2[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kTekken[] =
    ATTEND_UPPER "*" ATTEND_LOWER "+|" ATTEND_UPPER "+" ATTEND_LOWER
                 R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" ATTEND_SPACES;
constexpr char kGpt4o[] =
    ATTEND_UPPER "*" ATTEND_LOWER "+" ATTEND_CONTRACTIONS "?|" ATTEND_UPPER
                 "+" ATTEND_LOWER "*" ATTEND_CONTRACTIONS
                 R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" ATTEND_SPACES;
// As before, but a digit is a word.
constexpr char kYoutu[] =
    ATTEND_UPPER "*" ATTEND_LOWER "+" ATTEND_CONTRACTIONS "?|" ATTEND_UPPER
                 "+" ATTEND_LOWER "*" ATTEND_CONTRACTIONS
                 R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" ATTEND_SPACES;
constexpr char kJais2[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S))"
    R"(|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S))"
    R"(|\s{1})";
constexpr char kQwen35[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kMiniCpm5[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kBailing[] =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr char kSeedCoder[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" ATTEND_SPACES;
constexpr char kUfakzeka[] =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kExaoneMoe[] = ATTEND_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr char kGraniteEmbed[] =
    R"([^\r\n\p{L}\p{N}]?(?:(?=[\p{L}\p{M}])[^a-z])*)"
    R"((?:(?=[\p{L}\p{M}])[^A-Z])+)" ATTEND_CONTRACTIONS
    R"(?|[^\r\n\p{L}\p{N}]?(?:(?=[\p{L}\p{M}])[^a-z])+)"
    R"((?:(?=[\p{L}\p{M}])[^A-Z])*)" ATTEND_CONTRACTIONS
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" ATTEND_SPACES;
constexpr char kKimiK2[] =
    R"(\p{Han}+|[^\r\n\p{L}\p{N}]?)"
    R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)" ATTEND_CONTRACTIONS
    R"(?|[^\r\n\p{L}\p{N}]?)"
    R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)" ATTEND_CONTRACTIONS
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kDeepSeek3[] = ATTEND_ASCII_MARKS
    R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" ATTEND_SPACES;
constexpr char kSpark[] = ATTEND_ASCII_MARKS
    R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n])"
    R"(|\s+(?!\S)|\s+)";
constexpr char kCjk[] =
    R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr char kEastAsian[] =
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr char kYoutuScripts[] =
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C})"
    R"(\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-)"
    R"(\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+|[\x{4E00}-)"
    R"(\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr char kAfmoeScripts[] =
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-)"
    R"(\x{309F}\x{30A0}-\x{30FF}\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}\x{E40})"
    R"(-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}\x{1000}-\x{109F}\x{AA60}-)"
    R"(\x{AA7F}\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)";
// Digits in groups of three from the right.
constexpr char kDigitGroups[] = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
constexpr char kDeepSeekLetters[] =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-)"
    R"(\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377})"
    R"(\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556})"
    R"(\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-)"
    R"(\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77})"
    R"(\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-)"
    R"(\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"
    R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE})"
    R"(\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-)"
    R"(\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC})"
    R"(\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
    R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C})"
    R"(-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-)"
    R"(\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640})"
    R"(-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"
    R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-)"
    R"(\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F})"
    R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0})"
    R"(-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr char kDeepSeekMarks[] =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F})"
    R"(\x{3000}-\x{3002}]+)";
constexpr char kBloom[] =
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C}))"
    R"(]+)";
constexpr char kLines[] = R"([^\n]+|[\n]+)";

#undef ATTEND_CONTRACTIONS
#undef ATTEND_SPACES
#undef ATTEND_UPPER
#undef ATTEND_LOWER
#undef ATTEND_ASCII_MARKS

const PreTokenizer kPreTokenizers[] = {
    {.names = "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de "
              "a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code roberta-bpe "
              "mpt olmo jais trillion granite-docling exaone4",
     .splits = {kGpt2}},
    {.names = "default",
     .splits = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)",
                "[0-9][0-9][0-9]"}},
    {.names = "falcon",
     .splits = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, "[0-9][0-9][0-9]"}},
    {.names = "smollm starcoder refact command-r codeshell exaone minerva-7b "
              "mellum2",
     .splits = {kDigit, kGpt2}},
    {.names = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 "
              "lfm2 jina-v5-nano",
     .splits = {kLlama3},
     .whole_words = true,
     .adds_bos = true},
    {.names = "dbrx smaug-bpe glm4 chatglm-bpe", .splits = {kLlama3}},
    {.names = "jais-2", .splits = {kJais2}},
    {.names = "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan "
              "solar-open grok-2",
     .splits = {kQwen2}},
    {.names = "qwen35", .splits = {kQwen35}},
    {.names = "tekken",
     .splits = {kTekken},
     .whole_words = true,
     .adds_bos = true},
    {.names = "gpt-4o llama4 kanana2 talkie minimax-m2", .splits = {kGpt4o}},
    {.names = "granite-embed-multi-97m",
     .splits = {kGraniteEmbed},
     .whole_words = true},
    {.names = "tiny_aya cohere2moe",
     .splits = {R"(\d{1,3}(?=(?:\d{3})*\b))", kGpt4o}},
    {.names = "deepseek-llm",
     .splits = {"[\r\n]", kDeepSeekLetters, kDeepSeekMarks, R"(\s+$)",
                kEastAsian, R"(\p{N}+)"}},
    {.names = "deepseek-coder",
     .splits = {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian, kDigit}},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
     .splits = {kThreeDigits, kCjk, kDeepSeek3}},
    {.names = "spark2_5", .splits = {kThreeDigits, kCjk, kSpark, kDigit}},
    {.names = "youtu", .splits = {kYoutuScripts, kYoutu}, .whole_words = true},
    {.names = "poro-chat bloom gpt3-finnish", .splits = {kBloom}},
    {.names = "viking", .splits = {kBloom, kDigit}},
    {.names = "chameleon",
     .splits = {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                "([\\t\\n]|    |  )", kDigit, R"([\p{P}!-/:-@\[-`{-~])", kGpt2},
     .adds_bos = true},
    {.names = "kimi-k2", .splits = {kKimiK2}},
    {.names = "superbpe", .splits = {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}},
    {.names = "bailingmoe bailingmoe2 llada-moe", .splits = {kBailing}},
    {.names = "seed-coder", .splits = {kSeedCoder}},
    {.names = "ufakzeka", .splits = {kUfakzeka}},
    {.names = "afmoe", .splits = {kDigitGroups, kAfmoeScripts, kDeepSeek3}},
    {.names = "laguna", .splits = {kLines, kQwen2}},
    {.names = "exaone-moe", .splits = {kExaoneMoe}},
    {.names = "minicpm5",
     .splits = {kThreeDigits, kMiniCpm5},
     .whole_words = true},
    {.names = "gemma4 granite-embed-multi-311m sarvam-moe",
     .splits = {kLines},
     .bytes = false,
     .marks_spaces = true},
    {.names = "whitespace", .splits = {R"(\S+)"}, .bytes = false}};

}  // namespace

const PreTokenizer* FindPreTokenizer(absl::string_view name) {
  if (name.empty()) name = "gpt-2";
  for (const PreTokenizer& known : kPreTokenizers) {
    const std::vector<absl::string_view> names =
        absl::StrSplit(known.names, ' ');
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return &known;
    }
  }
  return nullptr;
}

std::string PreTokenizerNames() {
  std::vector<absl::string_view> names;
  for (const PreTokenizer& known : kPreTokenizers) {
    for (const absl::string_view name : absl::StrSplit(known.names, ' ')) {
      names.push_back(name);
    }
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace attend
