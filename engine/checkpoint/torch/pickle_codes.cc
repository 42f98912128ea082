#include "engine/checkpoint/torch/pickle_codes.h"

namespace attend {

PickleGroup GroupOf(uint8_t code) {
  switch (code) {
    case kPickleMark:
      return PickleGroup::kMark;
    case kPickleNone:
    case kPickleTrue:
    case kPickleFalse:
    case kPickleInt1:
    case kPickleInt2:
    case kPickleInt4:
    case kPickleLong1:
    case kPickleFloat:
    case kPickleEmptyDict:
    case kPickleEmptyList:
    case kPickleEmptyTuple:
      return PickleGroup::kConstant;
    case kPickleString1:
    case kPickleString4:
    case kPickleUnicode1:
    case kPickleUnicode4:
    case kPickleUnicode8:
      return PickleGroup::kText;
    case kPickleGet1:
    case kPickleGet4:
    case kPicklePut1:
    case kPicklePut4:
    case kPickleMemoize:
      return PickleGroup::kMemo;
    case kPickleTuple:
    case kPickleTuple1:
    case kPickleTuple2:
    case kPickleTuple3:
      return PickleGroup::kTuple;
    case kPickleAppend:
    case kPickleAppends:
      return PickleGroup::kItems;
    case kPickleSetItem:
    case kPickleSetItems:
      return PickleGroup::kPairs;
    case kPickleGlobal:
    case kPickleStackGlobal:
      return PickleGroup::kGlobal;
    case kPickleReduce:
      return PickleGroup::kReduce;
    case kPickleBuild:
      return PickleGroup::kBuild;
    case kPicklePersistent:
      return PickleGroup::kPersistent;
    case kPickleProtocol:
      return PickleGroup::kProtocol;
    case kPickleFrame:
      return PickleGroup::kFrame;
    default:
      return PickleGroup::kOther;
  }
}

}  // namespace attend
