"""Missing Debian packages: found with a dpkg-query of our own on the PATH, installed or named in one line."""

import shutil
import sys
from pathlib import Path

import commands
import progress
import pytest
import system_packages
from environments import Environment
from progress import Refusal, step

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="dpkg is a matter of Linux")

DPKG_QUERY = """#!/bin/sh
echo asked >> "$FAKE/asked"
shift 2
if [ $# = 0 ]; then cat "$FAKE/installed"; exit 0; fi
code=0
for name in "$@"; do grep -P "^[a-z-]+\\t$name\\t" "$FAKE/installed" || code=1; done
exit $code
"""
RECORD = """#!/bin/sh
echo "$(basename "$0") $*" >> "$FAKE/calls"
"""


class Debian:
    """A Debian made of shell scripts: what is installed, what was called, and whether sudo asks for a password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed()
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", RECORD), ("env", '#!/bin/sh\nshift\nexec "$@"\n')):
            self.script(name, text)

    def script(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def installed(self, *rows: str) -> None:
        """Each row is "name", "name status" or "name status provides"."""
        lines = [[*row.split(" ", 2), "", ""][:3] for row in rows]
        text = "".join(f"{status or 'installed'}\t{name}\t{provides}\t1.0\n" for name, status, provides in lines)
        (self.folder / "installed").write_text(text, encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        record = self.folder / "calls"
        return record.read_text(encoding="utf-8").splitlines() if record.exists() else []


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Debian:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("FAKE", str(folder))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(system_packages, "is_debian_family", lambda: True)
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 1000)
    return Debian(folder)


def test_what_is_installed_is_not_missing(debian: Debian) -> None:
    debian.installed("libgl1", "libegl1")
    assert system_packages.missing(("libgl1", "libegl1")) == []


def test_a_removed_package_whose_settings_stayed_is_missing(debian: Debian) -> None:
    debian.installed("libgl1", "libegl1 config-files")
    assert system_packages.missing(("libgl1", "libegl1", "dbus")) == ["dbus", "libegl1"]


def test_a_package_that_another_one_provides_is_not_missing(debian: Debian) -> None:
    debian.installed("libglib2.0-0t64 installed libglib2.0-0 (= 2.84.1-1), libglib2.0-0-other")
    assert system_packages.missing(("libglib2.0-0",)) == []


def test_the_whole_package_list_is_read_only_when_something_lacks(debian: Debian) -> None:
    debian.installed("libgl1")
    system_packages.missing(("libgl1",))
    assert (debian.folder / "asked").read_text(encoding="utf-8").count("asked") == 1


def test_without_permission_one_line_is_named_and_nothing_is_changed(debian: Debian, capsys) -> None:
    debian.script("sudo", "#!/bin/sh\nexit 1\n")
    with pytest.raises(Refusal) as refused:
        system_packages.require(("libgl1", "dbus"))
    lines = [line.strip() for line in str(refused.value).splitlines() if "apt-get" in line]
    assert lines == ["sudo apt-get update && sudo apt-get install --no-install-recommends dbus libgl1"]
    assert capsys.readouterr().out == "Missing system packages: dbus libgl1\n"
    assert debian.calls == []


def test_without_sudo_the_line_is_for_root(debian: Debian, monkeypatch) -> None:
    which = shutil.which
    monkeypatch.setattr(system_packages.shutil, "which", lambda name: None if name == "sudo" else which(name))
    with pytest.raises(Refusal) as refused:
        system_packages.require(("libgl1",))
    assert str(refused.value).splitlines() == [
        "Run this line as root, then start again:",
        "",
        "    apt-get update && apt-get install --no-install-recommends libgl1",
    ]


def test_everything_is_requested_in_one_line(debian: Debian, tmp_path: Path, monkeypatch) -> None:
    """Libraries and the package for `venv`: a second line after the first would be a second round."""
    debian.script("sudo", "#!/bin/sh\nexit 1\n")
    monkeypatch.setattr(system_packages, "find_spec", lambda name: None)
    monkeypatch.setattr(commands, "find", lambda name, lock: Environment(tmp_path / name, lock))
    options, _ = commands.read_command_line(["run"])
    with pytest.raises(Refusal, match=r"libgl1 .*libportaudio2 .*python3\.\d+-venv"):
        commands.prepare(".venv", commands.RUN_LOCK, options, window=False, environ={})


@pytest.mark.parametrize(("prefix", "library"), [("/usr", True), ("/opt/python", False)])
def test_packing_brings_its_tools_and_the_library_of_debians_python(monkeypatch, prefix: str, library: bool) -> None:
    monkeypatch.setattr(system_packages.sys, "base_prefix", prefix)
    wanted = system_packages.for_packages()
    assert {"binutils", "dpkg-dev"} <= set(wanted)
    assert any(name.startswith("libpython3.") for name in wanted) is library


def test_root_installs_at_once_and_waits_for_another_apt(debian: Debian, monkeypatch) -> None:
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 0)
    system_packages.require(("libgl1",))
    assert debian.calls == [
        "apt-get -o DPkg::Lock::Timeout=300 -q update",
        "apt-get -o DPkg::Lock::Timeout=300 -q install -y --no-install-recommends libgl1",
    ]


def test_sudo_that_asks_for_no_password_is_used(debian: Debian) -> None:
    debian.script("sudo", '#!/bin/sh\nshift\necho "sudo $*" >> "$FAKE/calls"\n')
    system_packages.require(("libgl1",))
    assert debian.calls[0] == "sudo true"
    assert debian.calls[-1].endswith("install -y --no-install-recommends libgl1")


def test_an_apt_that_fails_is_quoted(debian: Debian, monkeypatch) -> None:
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 0)
    debian.script("apt-get", "#!/bin/sh\necho 'E: Unable to locate package libgl1'\nexit 100\n")
    with pytest.raises(Refusal, match="Unable to locate package libgl1"):
        system_packages.require(("libgl1",))


def test_python_without_ensurepip_gets_its_venv_package(debian: Debian, monkeypatch) -> None:
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(system_packages, "find_spec", lambda name: None)
    system_packages.require(system_packages.for_venv())
    assert debian.calls[-1].endswith(f" python3.{sys.version_info.minor}-venv")


def test_python_without_ensurepip_elsewhere_is_a_sentence(debian: Debian, monkeypatch) -> None:
    monkeypatch.setattr(system_packages, "is_debian_family", lambda: False)
    monkeypatch.setattr(system_packages, "find_spec", lambda name: None)
    with pytest.raises(Refusal, match="cannot make virtual environments"):
        system_packages.for_venv()


@pytest.mark.parametrize(
    ("text", "expected", "browser"),
    [
        ('ID=debian\nVERSION_ID="12"\n', True, True),
        ("ID=ubuntu\nID_LIKE=debian\n", True, False),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', True, False),
        ("ID=fedora\n", False, False),
        ("", False, False),
    ],
)
def test_the_family_is_read_from_os_release(
    tmp_path: Path, monkeypatch, text: str, expected: bool, browser: bool
) -> None:
    monkeypatch.setattr(system_packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    os_release = tmp_path / "os-release"
    os_release.write_text(text, encoding="utf-8")
    assert system_packages.is_debian_family(os_release) is expected
    assert ("chromium" in system_packages.for_tests(os_release)) is browser
    assert not system_packages.is_debian_family(tmp_path / "absent")


def test_a_quick_step_is_silent_and_a_slow_one_says_what_it_does(capsys) -> None:
    with step("Doing nothing"):
        pass
    assert capsys.readouterr().out == ""
    with step("Waiting", slow_after_s=0.0):
        while not progress_spoke(capsys):
            pass
    assert "  took " in capsys.readouterr().out


def progress_spoke(capsys: pytest.CaptureFixture[str]) -> bool:
    return capsys.readouterr().out == "Waiting…\n"


def test_the_tail_of_a_failed_tool_is_what_it_said_last() -> None:
    said = "\n".join(f"line {number}" for number in range(100))
    assert progress.CommandFailed(["apt-get"], 1, said).tail.splitlines()[-1].strip() == "line 99"


def test_the_package_of_a_library_is_found_by_either_name_of_its_folder(debian: Debian) -> None:
    """Debian 12 lists libraries below /lib or /usr/lib as their packages do; the linker gives either."""
    debian.installed("libone1", "libtwo2")
    known = "libone1:amd64: /lib/x86/libone.so.1\nlibtwo2:amd64, other: /usr/lib/x86/libtwo.so.2\n"
    debian.script(
        "dpkg-query", f"#!/bin/sh\n[ $1 = -S ] && printf '{known}' && exit 1\n{DPKG_QUERY.partition(chr(10))[2]}"
    )
    first, second, unknown = (Path(f"/usr/lib/x86/lib{name}.so") for name in ("one", "two", "three"))
    first, second = first.with_name("libone.so.1"), second.with_name("libtwo.so.2")
    assert system_packages.owners([first, second, unknown]) == {first: ("libone1", "1.0"), second: ("libtwo2", "1.0")}
    assert system_packages.owners([]) == {}
