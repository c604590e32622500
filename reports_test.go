package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reported is a published report of what went wrong elsewhere, or a defect seen in another assistant beside a GNS3 server, and the tests that
// fail when it goes wrong here. Those about real equipment need the tag lab.
type reported struct{ number, what, tests string }

// streamReports are those about streams of events and the proxies on their way. More of what models stream is in activities/llm.
func streamReports() []reported {
	return []reported{
		{"B1", "a proxy holds the stream back", "TestB1B2B3SilentStreams"},
		{"B2", "a proxy cuts a silent stream", "TestB2ImpatientProxy TestB1B2B3SilentStreams"},
		{"B3", "a stream dies of the server's write deadline", "TestB1B2B3SilentStreams TestStallThatIsTooLong"},
		{"B5", "a client that leaves ends its turn, or loses it", "TestB5B6ClientGone TestStalledClientsCostLittle"},
		{"B6", "a client that leaves cancels a command", "TestB5B6ClientGone"},
		{"B8", "events that are no longer kept are missed without a word", "TestB8EvictedEvents TestB8ResumeFromNowhere"},
		{"B10", "an error is an empty stream", "TestB10TemporalGone TestB10TemporalRefuses TestB10TheEventStreamIsAway TestWorkerWithoutAModel"},
		{"B11", "an error in mid-stream has no frame", "TestB11ErrorsInMidStream"},
		{"B12", "readers that come and go leak", "TestB12ReadersLeaveNothingBehind"},
		{"B13", "text forges events", "TestB13TextThatLooksLikeFrames"},
	}
}

// serverReports are those about the GNS3 server, its consoles and its own assistant.
func serverReports() []reported {
	return []reported{
		{"F1", "a console is mute after its reader was aborted", "TestF1AbortedInMidRead"},
		{"F2", "short sessions lose output", "TestF2ShortSessions TestKeptSessions"},
		{"F3", "a session that is held blocks others", "TestF3HeldConsole TestKeptSessions"},
		{"F4", "a console can't be opened again", "TestF4OpenedAgain"},
		{"F5", "a console's host is none that can be reached", "TestConsoleAddress TestConsoleAddressOfAnIPv6Server TestF5ConsoleHost TestComputeOnAnotherHost TestF8UnreachableConsole"},
		{"F6", "a console listens on loopback alone", "TestF8UnreachableConsole TestComputeOnAnotherHost"},
		{"F8", "telnet ports can't be reached", "TestF8UnreachableConsole"},
		{"F9", "a login ends while a turn waits", "TestATokenThatEndsInMidTurn TestF9LoginEndsWhileAChangeWaits"},
		{"F12", "a node's kind isn't told", "TestPlatform TestPlatformDetection TestCredentialsOfNodesAreNotKept TestLoginIsReported"},
		{"F14", "a project is closed or deleted under a turn", "TestAProjectThatIsClosed TestF14ProjectClosedWhileAChangeWaits TestF14ProjectClosedUnderACommand TestDeletedProject"},
		{"F15", "counts are lost, and aborts miss", "TestF15DroppedTurnIsBooked TestF15AbortBesideTheStart TestF15AbortAtAnotherReplica TestAbortWithoutATurn"},
		{"F16", "calls that come mixed are mixed up", "TestF16InterleavedCalls TestEachCallCompletesOnce"},
		{"F17", "the history has another form than the stream", "TestF17TheSameJSONInBoth TestTurnWithATool"},
		{"F18", "a crash leaves calls without results", "TestF18KilledInRoundTwo TestF18EndedBehindItsCalls TestFortyRoundsAndFiveKills"},
		{"F19", "ids that are none", "TestParametersThatAreRefused TestProjectIDsThatWouldReadSomethingElse TestProjectsThatAreNotThere TestIsolation"},
		{"F21", "a started node's console is closed", "TestComputeOnAnotherHost TestClosedInMidCommand"},
		{"F22", "a certificate of one's own", "TestHTTPS TestF22PrivateCertificate TestGatewayToASecureServer"},
		{"F23", "forbidden commands in other spellings", "TestTables TestNoSpellingPasses TestFold TestCallsThatDoNotRun"},
		{"F26", "names of tools that aren't there", "TestNamesInPromptsAndDescriptions TestTheToolsOfAModeAreDocumented"},
		{"F27", "whose key is used, and who sees it", "TestSecretsStayWhereTheyBelong TestAKeyIsHiddenInAllSpellings TestAModelKeyIsOpenedForItsConfigurationAlone TestATurnsModelsAreChosenAtItsStart"},
		{"F28", "which setting is missing", "TestF28NamesOfVariables TestF28StartsAndSaysWhatIsMissing TestF28WrongServer TestAllFaultsAreNamedAtOnce TestWorkerWithoutAModel"},
	}
}

// defects are those of the assistant that GNS3 server 3.1.0a2 brings along.
func defects() []reported {
	return []reported{
		{"defect 1", "a user reads another's session by its id", "TestIsolation TestStrangersSeeNothing TestNobodySeesAnothersSessions"},
		{"defect 2", "a user's second model configuration is an error that shows SQL", "TestModelConfigsThatAreRefused TestAnOwnerHasOneDefault"},
		{"defect 3", "a client that leaves loses its turn", "TestB5B6ClientGone TestF15DroppedTurnIsBooked"},
		{"defect 4", "of two turns of a session one vanishes", "TestC22SecondMessageWhileOneRuns"},
		{"defect 5", "a tool runs that its mode doesn't have", "TestAModeHasItsTools TestLabChangesThatNobodyAllows"},
		{"defect 6", "an abort interrupts nothing", "TestC21AbortInMidText TestE4AbortInACommand TestPingAborted"},
		{"defect 7", "no tokens are counted", "TestTokensOfACustomModel"},
		{"defect 8", "an unknown tool leaves a call without a result", "TestCallsThatDoNotRun TestStrictModel"},
		{"defect 9", "a refused command is a success, and reload is sent", "TestDevicesFailApart TestWrongCommands TestTables TestAConfirmedReload"},
		{"defect 10", "suspending fails, starting nothing and another name are successes", "TestGatedLabChanges TestStartThatStartsNothing TestNodesOfOneName"},
		{"defect 11", "why a device failed is hidden", "TestDevicesFailApart TestD38FiveDevices TestF8UnreachableConsole"},
		{"defect 12", "a turn ends at its limit without a word", "TestStepBudgetEndsVisibly TestATurnStopsAtItsLimits"},
		{"defect 13", "a configuration without a mode ends the turn", "TestNoModeInTheConfiguration"},
		{"defect 14", "no heartbeat", "TestB1B2B3SilentStreams TestB2ImpatientProxy"},
		{"defect 15", "arguments that are no JSON count as none", "TestCallsThatDoNotRun"},
		{"defect 16", "prompts name tools and arguments that aren't there", "TestNamesInPromptsAndDescriptions TestTopics"},
		{"defect 17", "a fault set's name in the description is unknown", "TestNamesInPromptsAndDescriptions TestSkillTools"},
		{"defect 18", "a command is described and refused", "TestNothingIsOfferedThatIsRefused"},
		{"export", "private chats leave with a project", "TestExportHasNoChat"},
	}
}

// reportNumbers are all that there must be a test for.
func reportNumbers() []string {
	numbers := strings.Fields(`B1 B2 B3 B5 B6 B8 B10 B11 B12 B13
		F1 F2 F3 F4 F5 F6 F8 F9 F12 F14 F15 F16 F17 F18 F19 F21 F22 F23 F26 F27 F28 export`)
	for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18") {
		numbers = append(numbers, "defect "+n)
	}
	return numbers
}

// TestReports holds the index above against the tree: each number has tests, and each of them is there.
func TestReports(t *testing.T) {
	there := testsOfTheTree(t)
	indexed := map[string]bool{}
	for _, r := range slices.Concat(streamReports(), serverReports(), defects()) {
		tests := strings.Fields(r.tests)
		if indexed[r.number] || len(tests) == 0 || !slices.Contains(reportNumbers(), r.number) {
			t.Errorf("%s (%s) is there twice, has no test, or is no number", r.number, r.what)
		}
		indexed[r.number] = true
		for _, name := range tests {
			if !there[name] {
				t.Errorf("%s (%s): there is no %s", r.number, r.what, name)
			}
		}
	}
	for _, number := range reportNumbers() {
		if !indexed[number] {
			t.Errorf("%s has no test", number)
		}
	}
}

// testsOfTheTree are the names of all tests, whatever tags they need.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				names[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
