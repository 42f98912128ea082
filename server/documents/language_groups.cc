#include "server/documents/language_groups.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace attend {
namespace {

// A group, and its languages or smaller groups.
struct Group {
  absl::string_view name, members;
};

constexpr Group kCollections[] = {
    {"aav", "vi km mnw kha mun"},
    {"afa", "sem ber cus ha cop"},
    {"alv", "bnt yo ig ee ak tw wo ff sg fon mos guw kbp gaa efi urh tiv"},
    {"art", "eo ia io vo ie jbo lfn tlh nov qya sjn tok ldn tzl avk dws"},
    {"bat", "lt lv ltg sgs prg"},
    {"ber", "kab tzm rif shi zgh shy tmh taq thv mzb"},
    {"bnt",
     "sw zu xh sn ny rw rn lg ln kg ts tn st nso ss nr ve ki kmb lua lub tum "
     "umb bem toi kam swc cjk loz kwn hz kj ng bas"},
    {"cau", "ccs ccn"},
    {"ccn", "ce av inh lez lbe ab ady kbd tab"},
    {"ccs", "ka xmf lzz sva"},
    {"cel", "ga gd cy br gv kw"},
    {"cpe", "tpi srn bi pcm jam pis"},
    {"cpf", "ht mfe gcf crs"},
    {"cpp", "pap kea"},
    {"crp", "cpe cpf cpp"},
    {"cus", "so om aa sid bej"},
    {"dra", "ta te kn ml tcy gon"},
    {"euq", "eu"},
    {"fiu",
     "fi et hu se sma smj smn sms krl vep olo liv myv mdf mhr chm mrj kv koi "
     "udm vro izh vot"},
    {"gem", "gmw gmq got"},
    {"gmq", "da sv no nn is fo non"},
    {"gmw",
     "de nl en fy af lb nds yi li sco ksh gsw bar pdc stq frr ang enm pfl hrx "
     "gos zea vls swg"},
    {"grk", "el grc pnt"},
    {"iir", "inc ira"},
    {"inc",
     "hi ur bn pa gu mr ne or as sd si ks sa bho mai awa rom dv hne mag kok "
     "gom pi doi rhg syl hif bpy skr lah"},
    {"ine", "gem itc sla bat cel grk iir sq hy"},
    {"ira", "fa ps ku ckb tg os bal tly zza lrc mzn glk sdh"},
    {"itc", "roa la"},
    {"jpx", "ja ryu"},
    {"map", "poz"},
    {"mun", "sat hoc unr"},
    {"nic", "alv bm dyu"},
    {"phi", "fil ceb ilo hil war pag pam bik tsg akl"},
    {"poz",
     "phi pqe id ms jv su mg min ban bjn ace bug mad tet gil mh na ch iba"},
    {"pqe", "sm mi haw to ty fj niu rap tvl rar"},
    {"roa",
     "fr es pt it ro ca gl oc rm sc wa co fur lad lld lmo lij scn vec nap an "
     "ast ext mwl frp pms rup egl cpf cpp"},
    {"sem",
     "ar he am ti mt arc syr tig gez aii arz ary apc ajp acm acq aeb ars"},
    {"sit", "zhx my bo dz mni lus kac"},
    {"sla", "zle zls zlw cu"},
    {"tai", "th lo shn za"},
    {"trk",
     "tr az azb kk ky uz tk tt ba cv ug crh gag sah tyv kaa kum krc nog cjs "
     "alt kjh chg ota uum"},
    {"tut", "trk xgn"},
    {"urj", "fiu yrk sel nio"},
    {"xgn", "mn xal bua"},
    {"zhx", "zh yue wuu nan hak gan hsn cdo lzh"},
    {"zle", "ru uk be rue orv"},
    {"zls", "bg mk sr hr bs sl sh"},
    {"zlw", "pl cs sk hsb dsb csb szl"},
};

constexpr Group kMacrolanguages[] = {
    {"ak", "fat"},
    {"ar",
     "ary arz apc ajp acm acq aeb ars apd acw afb ayl ayn ayp abh acx adf avl "
     "arq ssh shu"},
    {"ay", "ayc"},
    {"az", "azb"},
    {"ff", "fub fuc fue ffm fuf fuq fuh fui"},
    {"gn", "gun gui gnw"},
    {"kr", "kby krt bms kbl"},
    {"ku", "ckb sdh"},
    {"lv", "ltg"},
    {"mg", "bhr bmm bzc msh skg tdx tkg txy xmv xmw"},
    {"ms", "zlm mfa max kxd"},
    {"ne", "dty"},
    {"no", "nn"},
    {"om", "gax hae orc"},
    {"or", "spv"},
    {"ps", "pbu pst"},
    {"qu", "quh qub qvi qug qus quf qul qvc qvm qvn qxh qxn qxo qup qwh"},
    {"sc", "sdc sdn src"},
    {"sh", "hr"},
    {"sq", "aae aat aln"},
    {"sw", "swc"},
    {"uz", "uzs"},
    {"yi", "yih"},
    {"zh", "yue wuu nan hak gan hsn cdo lzh cjy mnp"},
};

bool Is(const LanguageTag& language, absl::string_view name) {
  return language.canonical == name || language.language == name;
}

const Group* Find(absl::Span<const Group> groups, absl::string_view name) {
  const auto found =
      std::find_if(groups.begin(), groups.end(),
                   [&](const Group& group) { return group.name == name; });
  return found == groups.end() ? nullptr : &*found;
}

}  // namespace

bool IsInGroup(const LanguageTag& language, absl::string_view group) {
  if (group == "mul") return language.language.size() <= 3;  // ISO 639
  const Group* const found = Find(kCollections, group);
  if (found == nullptr) return false;
  for (const absl::string_view member : absl::StrSplit(found->members, ' ')) {
    if (Is(language, member) || IsInGroup(language, member)) return true;
  }
  return false;
}

bool IsMember(const LanguageTag& language, absl::string_view macro) {
  const Group* const found = Find(kMacrolanguages, macro);
  if (found == nullptr) return false;
  for (const absl::string_view member : absl::StrSplit(found->members, ' ')) {
    if (Is(language, member)) return true;
  }
  return false;
}

}  // namespace attend
