#include "engine/tokenizer/text/language_codes.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

constexpr absl::string_view kM2m100 =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff "
    "fi fr fy ga gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk "
    "km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa "
    "pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur "
    "uz vi wo xh yi yo zh zu";

constexpr absl::string_view kWmt21 = "en ha is ja cs ru zh de";

constexpr absl::string_view kMBart =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT "
    "ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK "
    "tr_TR vi_VN zh_CN";

// The codes that mBART-50 has after those of mBART.
constexpr absl::string_view kMBart50 =
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN "
    "mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX "
    "uk_UA ur_PK xh_ZA gl_ES sl_SI";

void Append(absl::string_view codes, absl::string_view mark,
            std::vector<std::string>& tokens) {
  for (const absl::string_view code : absl::StrSplit(codes, ' ')) {
    tokens.push_back(absl::StrCat(mark, code, mark));
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LanguageTokens(
    const HfConfig& config) {
  std::vector<std::string> tokens;
  const std::string& name = config.tokenizer_class;
  if (name == "MBartTokenizer" || name == "MBart50Tokenizer") {
    Append(kMBart, "", tokens);
    if (name == "MBart50Tokenizer") Append(kMBart50, "", tokens);
  } else if (name == "M2M100Tokenizer") {
    const std::string& set = config.language_codes;
    if (set != "m2m100" && set != "wmt21") {
      return absl::InvalidArgumentError(
          absl::StrCat("tokenizer_config.json: language_codes is \"", set,
                       "\", expected m2m100 or wmt21"));
    }
    Append(set == "m2m100" ? kM2m100 : kWmt21, "__", tokens);
  }
  return tokens;
}

}  // namespace attend
