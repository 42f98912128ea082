# Writes a C++ source whose function FUNCTION gives the FILES of the folder ROOT:
#
#   cmake -DOUTPUT=FILE.cc -DFUNCTION=NAME -DROOT=DIRECTORY -DFILES="a;b" -P embed.cmake
set(entries "")
foreach(name IN LISTS FILES)
  file(READ ${ROOT}/${name} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(APPEND entries "      {\"${name}\", {\"${bytes}\", ${size}}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by embed.cmake.
#include \"server/web/embedded_files.h\"

namespace attend {

absl::Span<const EmbeddedFile> ${FUNCTION}() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace attend
")
