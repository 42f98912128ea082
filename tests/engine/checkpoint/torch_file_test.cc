// Files of torch.save(), made by tests/golden/make_torch_files.py, and hostile
// changes of them.

#include "engine/checkpoint/torch/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/torch/pickle_reader.h"
#include "engine/checkpoint/torch/zip_directory.h"
#include "engine/checkpoint/weights.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/torch/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

absl::Span<const uint8_t> Span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::string ErrorOf(const std::string& bytes) {
  const auto read = ReadTorchFile("f.bin", Span(bytes));
  EXPECT_TRUE(read.ok() || absl::IsInvalidArgument(read.status()));
  return std::string(read.status().message());
}

std::vector<float> Counted(int first, int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = 100.0f * first + 0.5f * i;
  return values;
}

class TorchFileTest : public ::testing::TestWithParam<const char*> {
 protected:
  TorchFileTest() {
    directory_.Write("pytorch_model.bin", Golden(GetParam()));
    auto opened = Checkpoint::Open(directory_.path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) checkpoint_.emplace(*std::move(opened));
  }

  std::vector<float> Values(const char* name) const {
    const auto view = checkpoint_->Find(name);
    EXPECT_TRUE(view.ok()) << view.status();
    if (!view.ok()) return {};
    std::vector<float> values(view->count());
    ToFloats(view->type, view->bytes.data(), absl::MakeSpan(values));
    return values;
  }
  std::string Error(const char* name) const {
    return std::string(checkpoint_->Find(name).status().message());
  }

  const TestDirectory directory_;
  std::optional<Checkpoint> checkpoint_;
};

INSTANTIATE_TEST_SUITE_P(Formats, TorchFileTest,
                         ::testing::Values("zip.bin", "older.bin"));

TEST_P(TorchFileTest, AFileInThePlaceOfAFolderGivesItsName) {
  directory_.Write("layer.pt", Golden(GetParam()));
  const auto checkpoint = Checkpoint::Open(directory_.path(), {"layer.pt"});
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  for (const std::string& name : checkpoint_->Names()) {
    EXPECT_TRUE(checkpoint->Has(name));
    EXPECT_TRUE(checkpoint->Has("layer/" + name));
  }
  const std::string whole = Golden(GetParam());
  for (const std::string& odd :
       {whole.substr(0, whole.size() / 2), Golden("global.bin"),
        std::string("<html>"), std::string()}) {
    directory_.Write("layer.pt", odd);
    const absl::Status status =
        Checkpoint::Open(directory_.path(), {"layer.pt"}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr("/layer.pt: "));
  }
  std::filesystem::remove(directory_.path() + "/layer.pt");
  EXPECT_TRUE(absl::IsNotFound(
      Checkpoint::Open(directory_.path(), {"layer.pt"}).status()));
}

TEST_P(TorchFileTest, TensorsAreThoseThatWereSaved) {
  EXPECT_EQ(checkpoint_->Names().size(), 14u);
  EXPECT_THAT(checkpoint_->Find("f32")->shape, ElementsAre(3, 5));
  EXPECT_EQ(Values("f32"), Counted(1, 15));
  EXPECT_EQ(checkpoint_->Find("f16")->type, StorageType::kF16);
  EXPECT_EQ(Values("f16"), Counted(2, 6));
  EXPECT_EQ(checkpoint_->Find("bf16")->type, StorageType::kBf16);
  EXPECT_THAT(Values("bf16"), ElementsAre(300, 300, 300, 302, 302, 302, 304));
  EXPECT_EQ(checkpoint_->Find("tied")->bytes.data(),
            checkpoint_->Find("f32")->bytes.data());
  EXPECT_THAT(Values("rows"), ElementsAre(601.5, 602, 602.5, 603, 603.5, 604));
  EXPECT_EQ(Values("scalar"), Counted(8, 1));
  EXPECT_EQ(Values("parameter"), Counted(9, 2));
  EXPECT_THAT(checkpoint_->Find("empty")->shape, ElementsAre(0, 3));
  EXPECT_EQ(checkpoint_->Find("f64")->type, StorageType::kF32);
  EXPECT_EQ(Values("f64"), Counted(4, 2));
  // Only who reads them hears of them.
  EXPECT_THAT(Error("i64"), HasSubstr("tensor i64 has dtype I64"));
  EXPECT_THAT(Error("mask"), HasSubstr("tensor mask has dtype BOOL"));
  EXPECT_THAT(Error("columns"),
              AllOf(HasSubstr("tensor columns is a view"),
                    HasSubstr("attend convert " + directory_.path())));
  EXPECT_THAT(Error("repeated"), HasSubstr("tensor repeated is a view"));
}

TEST_P(TorchFileTest, ATransposedMatrixIsReadAsItIs) {
  NameTable names;
  names.rows = {{"plain", {"transposed"}},
                {"turned", {"transposed"}},
                {"half", {"transposed"}}};
  names.rows[1].slices.transposed = true;
  names.rows[2].slices = {.first = 2, .taken = 1, .total = 5};
  Weights weights(*checkpoint_, names);
  const auto plain = weights.Read("plain", {5, 3});
  ASSERT_TRUE(plain.ok()) << plain.status();
  for (int row = 0; row < 5; ++row) {
    for (int col = 0; col < 3; ++col) {
      EXPECT_EQ(plain->data()[row * 3 + col], 500 + 0.5f * (col * 5 + row));
    }
  }
  const auto turned = weights.Read("turned", {3, 5});
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(std::vector<float>(turned->data(), turned->data() + 15),
            Counted(5, 15));
  const auto row = weights.Read("half", {1, 3});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_THAT(std::vector<float>(row->data(), row->data() + 3),
              ElementsAre(501, 503.5, 506));
}

// However a file is cut or changed, there is an answer, within the file.
TEST_P(TorchFileTest, CutAndChangedAnywhere) {
  const std::string whole = Golden(GetParam());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ErrorOf(whole.substr(0, size)), HasSubstr("f.bin: ")) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      const auto read = ReadTorchFile("f.bin", Span(changed));
      if (!read.ok()) continue;
      for (const auto& [name, entry] : *read) {
        ASSERT_LE(entry.begin, entry.end) << at;
        ASSERT_LE(entry.end, whole.size()) << at;
      }
    }
  }
}

TEST(TorchFilesTest, OtherProtocolsAndNestedDictionaries) {
  for (const char* name : {"protocol4.bin", "nested.bin"}) {
    const std::string bytes = Golden(name);
    const auto read = ReadTorchFile("f.bin", Span(bytes));
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), 1u);
    EXPECT_THAT(read->at("w").shape, ElementsAre(2, 2));
  }
}

TEST(TorchFilesTest, OtherFilesSayWhatTheyAre) {
  EXPECT_THAT(
      ErrorOf(Golden("global.bin")),
      AllOf(HasSubstr("names posix.system"), HasSubstr("nothing in it is run"),
            HasSubstr("save_pretrained()")));
  EXPECT_THAT(ErrorOf(Golden("script.bin")), HasSubstr("TorchScript"));
  const TestDirectory directory;
  const struct {
    const char* file;
    std::string bytes;
    const char* error;
  } cases[] = {
      {"pytorch_model.bin", "", "is empty"},
      {"pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\n",
       "git lfs pull"},
      {"pytorch_model.bin", "<!DOCTYPE html><html>", "page of HTML"},
      {"pytorch_model.bin", Safetensors("{}", ""), "name it model.safetensors"},
      {"pytorch_model.bin", "GGUF....", "GGUF"},
      {"pytorch_model.bin", "numbers", "neither a zip archive nor"},
      {"model.safetensors", "version https://git-lfs.github.com/spec/v1\n",
       "git lfs pull"},
      {"model.safetensors", Golden("zip.bin"), "name it pytorch_model.bin"},
  };
  for (const auto& [file, bytes, error] : cases) {
    const std::string path = directory.Write(file, bytes);
    const auto opened = Checkpoint::Open(directory.path());
    EXPECT_TRUE(absl::IsInvalidArgument(opened.status()));
    EXPECT_THAT(opened.status().message(),
                AllOf(HasSubstr(path + ": "), HasSubstr(error)));
    std::filesystem::remove(path);
  }
}

// Where the directory of an archive lists a file.
size_t ListedAt(const std::string& bytes, const std::string& name) {
  return bytes.rfind(name) - 46;
}

TEST(TorchFilesTest, HostileArchives) {
  const std::string whole = Golden("protocol4.bin");
  const size_t data = ListedAt(whole, "protocol4/data/0");
  const size_t version = ListedAt(whole, "protocol4/version");
  ASSERT_EQ(whole.substr(data, 4), std::string("PK\1\2"));
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string changed = whole;
    return ErrorOf(changed.replace(at, bytes.size(), bytes));
  };
  EXPECT_THAT(with(data + 10, "\x08"), HasSubstr("data/0 in it is compressed"));
  EXPECT_THAT(with(data + 8, "\x09"),
              HasSubstr("data/0 in it is compressed or enc"));
  EXPECT_THAT(with(data + 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f"),
              HasSubstr("ends after the end of the archive"));
  EXPECT_THAT(with(data + 42, "\xff\xff\xff\x7f"), HasSubstr("has no header"));
  // The bytes of one are those of another, too.
  EXPECT_THAT(with(version + 42, whole.substr(data + 42, 4)),
              HasSubstr("another name"));
  EXPECT_THAT(with(data + 20, std::string("\x40\1\0\0\x40\1\0\0", 8)),
              HasSubstr("overlap"));
  EXPECT_THAT(with(data + 46, "protocol4/data/1"), HasSubstr("another name"));
  // A count that the directory does not have.
  EXPECT_THAT(with(whole.size() - 12, "\xfe\xff"), HasSubstr("cut or broken"));
}

std::string PickleError(const std::string& bytes) {
  return std::string(ReadPickle("p", Span(bytes)).status().message());
}

TEST(TorchFilesTest, HostilePickles) {
  EXPECT_EQ(PickleError("N."), "");
  EXPECT_THAT(PickleError(""), HasSubstr("it is cut here"));
  EXPECT_THAT(PickleError("."), HasSubstr("a value that is not there"));
  EXPECT_THAT(PickleError("\x80\x06."), HasSubstr("protocol 6"));
  EXPECT_THAT(PickleError("i."), HasSubstr("instruction 0x69"));
  EXPECT_THAT(PickleError("h\1."), HasSubstr("a value that is not there"));
  EXPECT_THAT(PickleError("X\xff\xff\xff\xff."), HasSubstr("it is cut here"));
  EXPECT_THAT(PickleError("(NNe."), HasSubstr("a value that is not there"));
  EXPECT_THAT(PickleError("Nu."), HasSubstr("a mark that is not there"));
  EXPECT_THAT(PickleError("}(Nu."), HasSubstr("sets items of no dictionary"));
  EXPECT_THAT(PickleError("NNb."), HasSubstr("other than a dictionary"));
  EXPECT_THAT(PickleError("N)R."), HasSubstr("cannot be called"));
  EXPECT_THAT(PickleError("ctorch\nFloatStorage\n)R."),
              HasSubstr("a reference to one"));
  EXPECT_THAT(PickleError("cos\nsystem\n."), HasSubstr("names os.system"));
  EXPECT_THAT(PickleError("cbuiltins\neval\n."), HasSubstr("builtins.eval"));
  EXPECT_THAT(PickleError("Nq\1Q."), HasSubstr("other than a storage"));
  // A list that holds itself.
  EXPECT_EQ(PickleError("]q\1h\1a."), "");
  EXPECT_THAT(PickleError(std::string(3 << 20, 'N')),
              HasSubstr("more than 2097152 values"));
  // A dictionary of the same pairs, over and over.
  std::string many = "](";
  for (int i = 0; i < 4096; ++i) many += "NN\x86";
  many += "e\x85q\1";
  for (int i = 0; i < 1000; ++i) many += "ccollections\nOrderedDict\nh\1R";
  EXPECT_THAT(PickleError(many + "."), HasSubstr("more than 2097152 pairs"));
}

}  // namespace
}  // namespace attend
