#include "engine/tokenizer/gguf/pre_tokenizers.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// Parts of the patterns below, which are those of the models' tokenizer.json.
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
constexpr char kCjk[] = "[一-龥぀-ゟ゠-ヿ]+";
constexpr char kEastAsian[] = "[一-龥ࠀ-一가-퟿]+";
// clang-format off
constexpr char kYoutuScripts[] =
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+"
    "|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+";
constexpr char kAfmoeScripts[] =
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿"
    "຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+";
// clang-format on
// Digits in groups of three from the right.
constexpr char kDigitGroups[] = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
constexpr char kDeepSeekLetters[] =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-Ⴥ)"
    R"(Ꭰ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥ)"
    R"(ῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯ)"
    R"(ꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr char kBloom[] = " ?[^(\\s|.,!?…。，、।۔،)]+";
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
     .splits = {"[\r\n]", kDeepSeekLetters, "\\s?[!-/:-~！-／：-～‘-‟　-。]+",
                R"(\s+$)", kEastAsian, R"(\p{N}+)"}},
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
