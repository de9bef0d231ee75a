"""Reports of build tools, as they wrote them: read as well as those of tools that run here.

Surefire's is that of Maven 3.8.7 with Surefire 2.22.3, cut; what javac says comes from the same build.
Gradle's and that of .NET are in the form that their documentation gives (Gradle 8, Visual Studio TRX 2010).
"""

import os
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.process import Finished, Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun import Case, Ended, Place, Status
from codeplane.testrun.runners import RUNNERS
from tests.testrun.real import found_targets, written

SOURCE = "src/test/java/org/toy/HalfTest.java"
SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="org.toy.HalfTest" time="0.655" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="breaks" classname="org.toy.HalfTest" time="0.088">
    <error message="broken" type="java.lang.IllegalStateException">java.lang.IllegalStateException: broken
\tat org.toy.HalfTest.breaks(HalfTest.java:10)
\tat java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
</error>
  </testcase>
  <testcase name="halves" classname="org.toy.HalfTest" time="0.055"/>
  <testcase name="later" classname="org.toy.HalfTest" time="0">
    <skipped message="later"/>
  </testcase>
  <testcase name="wrong" classname="org.toy.HalfTest" time="0">
    <failure message="expected:&lt;3&gt; but was:&lt;2&gt;" type="java.lang.AssertionError">\
<![CDATA[java.lang.AssertionError: expected:<3> but was:<2>
\tat org.junit.Assert.fail(Assert.java:89)
\tat org.toy.HalfTest.wrong(HalfTest.java:7)
]]></failure>
  </testcase>
</testsuite>
"""
GRADLE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="org.toy.HalfTest" tests="2" skipped="0" failures="1" errors="0" time="0.02">
  <testcase name="halves()" classname="org.toy.HalfTest" time="0.011"/>
  <testcase name="wrong()" classname="org.toy.HalfTest" time="0.009">
    <failure message="org.opentest4j.AssertionFailedError: expected: &lt;3&gt; but was: &lt;2&gt;"\
 type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected: 3
\tat app//org.toy.HalfTest.wrong(HalfTest.java:7)
</failure>
  </testcase>
  <system-out><![CDATA[]]></system-out>
</testsuite>
"""
TRX = """<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testId="a" testName="Toy.HalfTests.Halves" duration="00:00:00.0123456" outcome="Passed" />
    <UnitTestResult testId="b" testName="Wrong" duration="00:00:01.5" outcome="Failed">
      <Output><StdOut>hello</StdOut><ErrorInfo>
        <Message>System.InvalidOperationException : it is wrong</Message>
        <StackTrace>   at Toy.HalfTests.Wrong() in {root}/t/HalfTests.cs:line 12</StackTrace>
      </ErrorInfo></Output>
    </UnitTestResult>
    <UnitTestResult testId="c" testName="Toy.HalfTests.Later" outcome="NotExecuted" />
  </Results>
  <TestDefinitions>
    <UnitTest name="Wrong" id="b"><TestMethod className="Toy.HalfTests, Toy" name="Wrong" /></UnitTest>
  </TestDefinitions>
</TestRun>
"""
JAVAC = "[INFO] BUILD FAILURE\n[ERROR] {root}/src/test/java/org/toy/HalfTest.java:[7,12] cannot find symbol\n"


def read(runner: str, root: Path, reports: Path, said: str = "", code: int = 1) -> dict[str, Case]:
    place = Place(root, Toolbox(Programs(dict(os.environ)), root), reports)
    targets = tuple(found_targets(RUNNERS[runner], root))
    finished = Finished(code, said.encode(), b"")
    return {case.id: case for case in RUNNERS[runner].parse(Ended(finished, reports, place, targets))}


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    return tmp_path / "reports"


@pytest.fixture
def maven(tmp_path: Path, reports: Path) -> Path:
    return written(tmp_path / "repo", {"pom.xml": "<project/>", SOURCE: "class HalfTest {}\n"})


def test_a_report_of_surefire_is_read(maven: Path, reports: Path) -> None:
    written(maven, {"target/surefire-reports/TEST-org.toy.HalfTest.xml": SUREFIRE})
    cases = read("maven", maven, reports)
    assert {name.partition("::")[2]: case.status for name, case in cases.items()} == {
        "breaks": Status.ERROR,
        "halves": Status.PASSED,
        "later": Status.SKIPPED,
        "wrong": Status.FAILED,
    }
    wrong, breaks = cases["org.toy.HalfTest::wrong"], cases["org.toy.HalfTest::breaks"]
    assert (wrong.target, wrong.path, wrong.line) == ("org.toy.HalfTest", SOURCE, 7)
    assert (wrong.message, wrong.kind) == ("expected:<3> but was:<2>", "AssertionError")
    assert (breaks.kind, breaks.line, breaks.seconds) == ("IllegalStateException", 10, 0.088)


def test_a_report_of_an_older_run_is_not(maven: Path, reports: Path) -> None:
    written(maven, {"target/surefire-reports/TEST-org.toy.HalfTest.xml": SUREFIRE})
    os.utime(maven / "target/surefire-reports/TEST-org.toy.HalfTest.xml", (1, 1))
    assert read("maven", maven, reports, code=0) == {}


def test_a_test_that_javac_refuses_is_shown(maven: Path, reports: Path) -> None:
    [case] = read("maven", maven, reports, JAVAC.format(root=maven)).values()
    assert (case.status, case.kind, case.path, case.line) == (Status.ERROR, "BuildFailed", SOURCE, 7)
    assert case.message == "cannot find symbol"


def test_a_report_of_gradle_is_read(tmp_path: Path, reports: Path) -> None:
    files = {"app/build.gradle.kts": "", f"app/{SOURCE}": "", "app/src/test/java/org/toy/Helper.java": ""}
    root = written(tmp_path / "repo", files)
    written(root, {"app/build/test-results/test/TEST-org.toy.HalfTest.xml": GRADLE})
    cases = read("gradle", root, reports)
    assert cases["org.toy.HalfTest::halves()"].status is Status.PASSED
    wrong = cases["org.toy.HalfTest::wrong()"]
    assert (wrong.path, wrong.line, wrong.kind) == (f"app/{SOURCE}", 7, "AssertionFailedError")


def test_a_report_of_dotnet_is_read(tmp_path: Path, reports: Path) -> None:
    project = '<Project><PackageReference Include="Microsoft.NET.Test.Sdk" /></Project>'
    root = written(
        tmp_path / "repo", {"t/Toy.Tests.csproj": project, "t/HalfTests.cs": "", "app/app.csproj": ""}
    )
    (reports / "tests.trx").write_text(TRX.replace("{root}", str(root)))
    cases = read("dotnet", root, reports)
    assert cases["Toy.HalfTests.Halves"].status is Status.PASSED
    assert cases["Toy.HalfTests.Later"].status is Status.SKIPPED
    wrong = cases["Toy.HalfTests.Wrong"]
    assert (wrong.target, wrong.path, wrong.line) == ("t/Toy.Tests.csproj", "t/HalfTests.cs", 12)
    assert (wrong.kind, wrong.seconds, wrong.output) == ("InvalidOperationException", 1.5, "hello")


@pytest.mark.parametrize("name", sorted(RUNNERS))
@pytest.mark.parametrize(
    "said", ["", "\x00\xff{", "{" * 5000, '{"Action":"fail"}\n' * 3, "\x1b[31mFAIL\x1b[0m"]
)
def test_whatever_a_runner_prints_is_an_answer(name: str, said: str, maven: Path, reports: Path) -> None:
    target = found_targets(RUNNERS["maven"], maven)[0]
    for file in (
        "jest.json",
        "vitest.json",
        "rspec.json",
        "tests.trx",
        "ctest.xml",
        "phpunit.xml",
        "report.jsonl",
    ):
        (reports / file).write_text(said)
    place = Place(maven, Toolbox(Programs({}), maven), reports)
    finished = Finished(1, said.encode(), said.encode())
    for case in RUNNERS[name].parse(Ended(finished, reports, place, (target,))):
        assert case.is_bad


def test_a_report_with_definitions_of_its_own_is_not_read(maven: Path, reports: Path) -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>'
    )
    written(maven, {"target/surefire-reports/TEST-org.toy.HalfTest.xml": bomb})
    [case] = read("maven", maven, reports).values()
    assert case.kind == "RunnerFailed"


def test_paths_that_lead_out_are_not_told(maven: Path, reports: Path) -> None:
    said = "[ERROR] /etc/passwd.java:[1,1] no\n[ERROR] ../../x.java:[2,2] no\n"
    [case] = read("maven", maven, reports, said).values()
    assert (case.path, case.line) == (RepoPath(""), 0)
