#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_CODES_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_CODES_H_

#include <cstdint>

namespace attend {

// The instructions of a pickle that files of tensors have.
enum PickleCode : uint8_t {
  kPickleMark = '(',
  kPickleStop = '.',
  kPickleNone = 'N',
  kPickleTrue = 0x88,
  kPickleFalse = 0x89,
  kPickleInt1 = 'K',
  kPickleInt2 = 'M',
  kPickleInt4 = 'J',
  kPickleLong1 = 0x8a,
  kPickleFloat = 'G',
  kPickleString1 = 'U',  // of Python 2
  kPickleString4 = 'T',
  kPickleUnicode1 = 0x8c,
  kPickleUnicode4 = 'X',
  kPickleUnicode8 = 0x8d,
  kPickleEmptyDict = '}',
  kPickleEmptyList = ']',
  kPickleEmptyTuple = ')',
  kPickleTuple = 't',
  kPickleTuple1 = 0x85,
  kPickleTuple2 = 0x86,
  kPickleTuple3 = 0x87,
  kPickleAppend = 'a',
  kPickleAppends = 'e',
  kPickleSetItem = 's',
  kPickleSetItems = 'u',
  kPickleGet1 = 'h',
  kPickleGet4 = 'j',
  kPicklePut1 = 'q',
  kPicklePut4 = 'r',
  kPickleMemoize = 0x94,
  kPickleGlobal = 'c',
  kPickleStackGlobal = 0x93,
  kPickleReduce = 'R',
  kPickleBuild = 'b',
  kPicklePersistent = 'Q',
  kPickleProtocol = 0x80,
  kPickleFrame = 0x95,
};

// The effect of an instruction.
enum class PickleGroup {
  kOther,
  kMark,
  kConstant,
  kText,
  kMemo,
  kTuple,
  kItems,
  kPairs,
  kGlobal,
  kReduce,
  kBuild,
  kPersistent,
  kProtocol,
  kFrame,
};
PickleGroup GroupOf(uint8_t code);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_CODES_H_
