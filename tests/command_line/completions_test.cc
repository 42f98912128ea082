#include "command_line/completions.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "command_line/man_page.h"

namespace attend {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ProgramText Program() {
  return {
      .name = "sing-it",
      .version = "1.2",
      .help = "sings",
      .description = "One.\n.Two.\n\nThree.",
      .options = {{.names = {"--version"}, .help = "Print it's version"}},
      .commands = {
          {.names = {"hum", "mumble"},
           .help = "Sing low: no words",
           .arguments = "[songs ...]",
           .options = {{.names = {"-k", "--key"},
                        .value = "KEY",
                        .choices = {"major", "minor"},
                        .variable = "SING_KEY",
                        .help = "The key [of all] (default: major)"},
                       {.names = {"--file"}, .value = "FILE", .help = "Notes"},
                       {.names = {"--loud"}, .help = "Shout"}}},
          {.names = {"stop"}, .help = "End"}}};
}

// What bash offers for these words, the last of which is begun, on one line.
std::string Complete(const std::string& words, int last) {
  const std::string file = ::testing::TempDir() + "completions_test.bash";
  std::ofstream(file) << CompletionScript(Program(), "bash");
  const std::string command =
      "bash -c 'set -u; source " + file + "; COMP_WORDS=(sing-it " + words +
      "); COMP_CWORD=" + std::to_string(last) +
      "; COMPREPLY=(); _sing_it; echo \"${COMPREPLY[*]-}\"' 2>&1";
  std::string said;
  FILE* bash = popen(command.c_str(), "r");
  for (int c; (c = std::fgetc(bash)) != EOF;) said += static_cast<char>(c);
  EXPECT_EQ(pclose(bash), 0);
  return said;
}

TEST(CompletionsTest, BashCompletesCommandsOptionsAndValues) {
  EXPECT_EQ(Complete("\"\"", 1), "hum mumble stop --version\n");
  EXPECT_EQ(Complete("h", 1), "hum\n");
  EXPECT_EQ(Complete("mumble --", 2), "--key --file --loud\n");
  EXPECT_EQ(Complete("hum --loud -", 3), "-k --key --file --loud\n");
  EXPECT_EQ(Complete("hum -k \"\"", 3), "major minor\n");
  EXPECT_EQ(Complete("hum --key = mi", 4), "minor\n");
  EXPECT_EQ(Complete("hum --key =", 3), "major minor\n");
  EXPECT_EQ(Complete("stop --k", 2), "\n");
  // Names of files, which bash itself adds.
  EXPECT_EQ(Complete("hum --file \"\"", 3), "\n");
  EXPECT_EQ(Complete("hum x", 2), "\n");
}

TEST(CompletionsTest, OtherShellsHaveTheSame) {
  const std::string zsh = CompletionScript(Program(), "zsh");
  EXPECT_THAT(zsh, StartsWith("#compdef sing-it\n"));
  EXPECT_THAT(zsh, HasSubstr("'mumble:Sing low'"));
  EXPECT_THAT(zsh, HasSubstr("'(-k --key)--key=[The key (of all)]:KEY:(major "
                             "minor)'"));
  EXPECT_THAT(zsh, HasSubstr("'(--file)--file=[Notes]:FILE:_files'"));
  EXPECT_THAT(zsh, HasSubstr("[Print it'\\''s version]"));
  const std::string fish = CompletionScript(Program(), "fish");
  EXPECT_THAT(fish, HasSubstr("complete -c sing-it -n "
                              "'__fish_seen_subcommand_from hum mumble' -s k "
                              "-l key -x -a 'major minor' -d "));
  EXPECT_THAT(fish, HasSubstr("-l file -r -F -d 'Notes'\n"));
  EXPECT_THAT(fish, HasSubstr("-l loud -d 'Shout'\n"));
}

TEST(ManPageTest, HasEverything) {
  const std::string page = ManPage(Program());
  EXPECT_THAT(page, StartsWith(".TH SING-IT 1 \"\" \"Attend 1.2\"\n.SH NAME\n"
                               "sing\\-it \\- sings\n"));
  EXPECT_THAT(page,
              HasSubstr(".SH DESCRIPTION\nOne.\n\\&.Two.\n.PP\nThree.\n"));
  EXPECT_THAT(page, HasSubstr(".SS hum, mumble\n\\fBsing\\-it hum\\fR "
                              "[\\fIoption\\fR ...] [songs ...]\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-k\\fR, \\fB\\-\\-key\\fR "
                              "\\fIKEY\\fR\nThe key [of all] (default: "
                              "major).\nOne of: major, minor.\nVariable: "
                              "\\fBSING_KEY\\fR.\n"));
  EXPECT_THAT(page, EndsWith("End.\n"));
}

}  // namespace
}  // namespace attend
