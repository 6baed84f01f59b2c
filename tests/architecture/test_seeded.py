# test_seeded.py ROOT: shows that the architecture checks can fail. The sources are copied, one breach at a
# time is seeded, and exactly that breach must be reported beyond what was reported before. Run by CTest.
import os
import shutil
import sys
import tempfile
import unittest

import arrows
import behind_objects
import folders
import layout
import repository
import switches
import texts

ROOT = ""


class Seeded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.copy = tempfile.mkdtemp(prefix="stepscope-architecture-")
        cls.addClassCleanup(shutil.rmtree, cls.copy)
        for path in repository.files(ROOT):
            if path.endswith((".png", ".bin", ".db", ".json")):
                continue
            target = os.path.join(cls.copy, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), target)
        cls.before = {check: set(check(cls.copy)) for check in (arrows.violations, folders.violations, switches.violations, texts.violations)}

    def breach(self, check, path, text):
        """The violations that appear while this file is there."""
        target = os.path.join(self.copy, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            return sorted(set(check(self.copy)) - self.before[check])
        finally:
            os.remove(target)

    def arrow(self, path, *included):
        return self.breach(arrows.violations, path, "// Seeded file of a test.\n" + "".join(f"#include {name}\n" for name in included))

    def test_an_arrow_that_points_up_is_found(self):
        for path, name in (("core/base/Seeded.h", '"core/events/Event.h"'), ("core/data/Seeded.cpp", '"core/analysis/Statistics.h"'),
                           ("sessions/Seeded.cpp", '"core/data/tokenizers/Tokenizer.h"'), ("widgets/panels/Seeded.cpp", '"sessions/SessionStore.h"'),
                           ("app/gui/Seeded.cpp", '"sessions/record/Recorder.h"'), ("core/events/Seeded.h", '"../analysis/Statistics.h"')):
            with self.subTest(path=path):
                self.assertEqual(len(self.arrow(path, name)), 1)

    def test_an_allowed_arrow_is_not_reported(self):
        self.assertEqual(self.arrow("app/gui/Seeded.cpp", '"sessions/SessionStore.h"', '"app/workbench/Workbench.h"', "<QWidget>"), [])
        self.assertEqual(self.arrow("widgets/charts/Seeded.cpp", "<QtCharts/QChart>", '"core/events/Event.h"'), [])

    def test_a_header_in_the_wrong_room_is_found(self):
        for path, name in (("widgets/panels/Seeded.cpp", "<ATen/core/Tensor.h>"), ("app/gui/Seeded.cpp", "<torch/all.h>"),
                           ("core/events/Seeded.h", "<QString>"), ("app/cli/Seeded.cpp", "<SQLiteCpp/Database.h>"),
                           ("widgets/panels/Seeded.h", "<QtCharts/QChart>"), ("core/train/Seeded.cpp", "<torch/torch.h>"),
                           ("core/profile/Seeded.cpp", "<cupti.h>")):
            with self.subTest(path=path):
                self.assertEqual(len(self.arrow(path, name)), 1)

    def test_torch_in_a_cu_file_is_found(self):
        self.assertTrue(any(".cu file takes raw pointers" in line for line in self.arrow("core/cuda/Seeded.cu", "<ATen/core/Tensor.h>")))

    def test_a_room_without_arrows_is_found(self):
        self.assertEqual(len(self.arrow("core/attic/Seeded.h")), 1)

    def test_a_file_that_names_a_switch_is_found(self):
        for path, line in (("app/gui/Seeded.cpp", 'bool low = config.word("amp") != "off";'), ("core/analysis/Seeded.h", 'constexpr const char* kChunks = "chunked-loss";'),
                           ("widgets/panels/Seeded.cpp", 'const QString id = QStringLiteral("batch-size");'), ("core/cuda/Seeded.cu", '#define SEEDED_SWITCH "fused-norm"')):
            with self.subTest(path=path):
                self.assertEqual(len(self.breach(switches.violations, path, f"// Seeded file of a test.\n{line}\n")), 1)
        self.assertEqual(self.breach(switches.violations, "core/optimizations/Seeded.cpp", '// Seeded file.\nauto id = "amp";\n'), [])

    def test_a_constant_that_stands_for_a_switch_counts_where_it_is_used(self):
        # Defined where ids may be named, used where they may not.
        for line in ('inline constexpr const char* kSeededId = "zero-grad";', 'inline const std::string kSeededId{"zero-grad"};',
                     'constexpr std::string_view kSeededId("zero-grad");', 'const char kSeededId[] = "zero-grad";', '#define kSeededId "zero-grad"'):
            with self.subTest(line=line):
                path = os.path.join(self.copy, "core/optimizations/SeededIds.h")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"// Seeded file of a test.\n{line}\n")
                try:
                    self.assertEqual(len(self.breach(switches.violations, "app/gui/Seeded.cpp", "// Seeded.\nauto it = config.word(kSeededId);\n")), 1)
                finally:
                    os.remove(path)

    def test_a_header_behind_an_object_is_found(self):
        good = "".join(f"{name}/CMakeFiles/x.dir/A.cpp.o: #deps 1, deps mtime 1 (VALID)\n    /usr/include/stdio.h\n\n"
                       for name in ("core/base", "core/events", "sessions", "widgets", "app/gui"))
        self.assertEqual(behind_objects.violations(good, True), [])
        for name, header in (("widgets/CMakeFiles/w.dir/panels/B.cpp.o", "/v/torch/include/c10/core/Device.h"),
                             ("app/gui/CMakeFiles/g.dir/B.cpp.o", "/usr/include/sqlite3.h"),
                             ("core/base/CMakeFiles/b.dir/B.cpp.o", "/usr/include/x86_64-linux-gnu/qt6/QtCore/QString"),
                             ("app/gui/CMakeFiles/g.dir/B.cpp.o", "/usr/include/qt6/QtCharts/QChart")):
            with self.subTest(name=name):
                seeded = good + f"{name}: #deps 2, deps mtime 1 (VALID)\n    /usr/include/stdio.h\n    {header}\n"
                self.assertEqual(len(behind_objects.violations(seeded, True)), 1)

    def test_a_build_without_the_window_does_not_pass_as_one_with_it(self):
        core = "".join(f"{name}/CMakeFiles/x.dir/A.cpp.o: #deps 1, deps mtime 1 (VALID)\n    /usr/include/stdio.h\n"
                       for name in ("core/base", "core/events", "sessions"))
        self.assertEqual(behind_objects.violations(core, False), [])
        self.assertEqual(len(behind_objects.violations(core, True)), 2)

    def test_a_source_that_opens_with_its_own_header_needs_no_head(self):
        self.assertEqual(self.breach(texts.violations, "core/base/Seeded3.cpp", '#include "core/base/Seeded3.h"\n'), [])
        self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded4.cpp", '#include "core/base/Seeded3.h"\n')), 1)
        for folder in ("tests/sessions", "tests/app/workbench"):  # the folder above the latter takes all files of its own
            self.assertEqual(len(self.breach(texts.violations, f"{folder}/SeededTest.cpp", "// A test that no CMakeLists names.\n")), 1)
        self.assertEqual(self.breach(texts.violations, "tests/widgets/gui/words/SeededTest.cpp", "// One that is taken with all of its folder.\n"), [])
        for tail in (".", ": drawing.", " and fcntl(2)."):
            self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded5.cpp", f"// See Seeded5.h{tail}\n")), 1)
        for head in ("// What it draws; see Seeded5.h. On the window's thread.", "// What it draws (see Seeded5.h): lines."):
            self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded5.cpp", head + "\n")), 1)
        self.assertEqual(self.breach(texts.violations, "core/base/Seeded5.cpp", "// What it draws, for whoever wants to see it.\n"), [])

    def test_a_program_that_prints_where_libraries_write_is_found(self):
        head = "// A seeded file of a test.\n"
        for code in ('std::fputs("x", stderr);\n', "write(STDERR_FILENO, text, 1);\n", 'std::cerr << "x";\n'):
            self.assertEqual(len(self.breach(texts.violations, "app/cli/Seeded.cpp", head + code)), 1)
        self.assertEqual(self.breach(texts.violations, "app/cli/Seeded.cpp", head + "bool stderrIsTerminal();  // of stderr\n"), [])
        self.assertEqual(self.breach(texts.violations, "app/workbench/process/Seeded.cpp", head + "return stderr;\n"), [])

    def test_an_instruction_of_one_processor_outside_its_folder_is_found(self):
        head = "// A seeded file of a test.\n"
        for code in ("auto a = _mm_setzero_ps();\n", "__m512i v;\n", "_MM_TRANSPOSE4_PS(a, b, c, d);\n", "__mmask64 negative;\n"):
            self.assertEqual(len(self.breach(texts.violations, "core/kernels/gemm/Seeded.h", head + code)), 1)
            self.assertEqual(self.breach(texts.violations, "core/kernels/isa/Seeded.h", head + code), [])
        self.assertEqual(self.breach(texts.violations, "core/kernels/gemm/Seeded.h", head + "int x;  // as _mm_pause()\n"), [])

    def test_a_file_that_is_laid_out_otherwise_is_found(self):
        formatter = os.path.join(ROOT, "build", "venv", "bin", "clang-format")
        if not os.path.exists(formatter):
            self.skipTest("packaging/test installs the pinned clang-format")
        path = os.path.join(self.copy, "core/base/Seeded6.h")
        with open(path, "w", encoding="utf-8") as file:
            file.write("// A seeded file of a test.\nint  f( );\n")
        self.addCleanup(os.remove, path)
        self.assertEqual(len([line for line in layout.violations(self.copy, formatter) if "Seeded6" in line]), 1)

    def test_a_full_folder_and_a_room_that_says_too_little_are_found(self):
        for number in range(folders.MOST):
            self.breach_stays(f"core/base/seeded/File{number}.h")
        self.assertEqual(len(self.breach(folders.violations, "core/base/seeded/OneMore.h", "// A seeded file of a test.\n")), 1)
        self.assertEqual(len(self.breach(folders.violations, "core/seeded/README.md", "# core/seeded\nToo short.\n")), 1)
        self.assertEqual(self.breach(folders.violations, "core/seeded/README.md", "# core/seeded\n" + "A line.\n" * 9), [])
        overview = repository.read(self.copy, "ARCHITECTURE.md")
        for words, times in ((folders.OVERVIEW, 0), (folders.OVERVIEW + 1, 1)):
            found = self.breach(folders.violations, "ARCHITECTURE.md", "word " * words)
            with open(os.path.join(self.copy, "ARCHITECTURE.md"), "w", encoding="utf-8") as file:
                file.write(overview)
            self.assertEqual(len(found), times)

    def breach_stays(self, path):
        target = os.path.join(self.copy, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write("// A seeded file of a test.\n")
        self.addCleanup(os.remove, target)

    def test_a_file_without_a_head_comment_is_found(self):
        self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded.h", "#pragma once\n")), 1)
        self.assertEqual(len(self.breach(texts.violations, "packaging/seeded", "#!/bin/bash\ntrue\n")), 1)

    def test_a_very_long_file_is_found(self):
        self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded.h", "// A long seeded file.\n" + "int x();\n" * 501)), 1)

    def test_a_registry_and_a_foreign_path_are_found(self):
        head = "// A seeded file of a test.\n"
        self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded.h", head + "// see files.python" + "hosted.org\n")), 1)
        self.assertEqual(len(self.breach(texts.violations, "core/base/Seeded2.h", head + 'const char* p = "/ho' + 'me/mira/x";\n')), 1)


if __name__ == "__main__":
    ROOT = sys.argv.pop(1)
    unittest.main()
