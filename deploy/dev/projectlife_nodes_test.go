package dev_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// twoRouters makes the user work in a project with R1 and R2, and gives the lab's names of them.
func (u *user) twoRouters(name string) map[string]string {
	u.t.Helper()
	u.autoClosing(name)
	u.addRouter()
	return map[string]string{"R1": name + "/R1", "R2": name + "/R2"}
}

func freeAddress(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// swapPorts restarts two devices, each with the console port that the other had.
func swapPorts(t *testing.T, a, b string) {
	t.Helper()
	move := func(device, address string) {
		if err := suite.lab.MoveConsole(device, address); err != nil {
			t.Fatal(err)
		}
	}
	at := func(device string) string {
		address, err := suite.lab.Console(device)
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	wasA, wasB := at(a), at(b)
	move(a, freeAddress(t, "127.0.0.1"))
	move(b, wasA)
	move(a, wasB)
}

// readBoth is the arguments of a call that has R1 and R2 show the interface that is theirs by its description.
func readBoth() string {
	return `{"device_configs": [{"device_name": "R1", "commands": ["show running-config"]}, {"device_name": "R2", "commands": ["show running-config"]}]}`
}

// TestNodesSwapTheirPorts restarts two nodes that get each other's console port: while an approval waits, and again behind the push, while
// sessions to both are kept open. What was confirmed for one must never be typed on the other.
func TestNodesSwapTheirPorts(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	device := u.twoRouters("Swapped " + session)
	line := func(name string) string { return "description this is " + name }
	both, err := json.Marshal(map[string]any{"device_configs": []any{
		map[string]any{"device_name": "R1", "config_commands": []string{"interface Loopback7", line("R1")}},
		map[string]any{"device_name": "R2", "config_commands": []string{"interface Loopback7", line("R2")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	again, release := make(chan struct{}), make(chan struct{})
	suite.model.On("read "+session, call(commandsTool, readBoth()), text("read"))
	if r := toolResult(t, u.say(session, "read "+session)); !r.Success {
		t.Fatalf("%+v", r)
	}
	stream, _ := propose(t, u, session, "swap "+session, call(configTool, string(both)), func(r *scriptmodel.Reply) {
		close(again)
		r.Hold(release)
		r.Call(commandsTool, readBoth())
	}, text("done"))
	swapPorts(t, device["R1"], device["R2"])
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	<-again
	swapPorts(t, device["R1"], device["R2"])
	close(release)
	events := until(t, stream, isType(schema.EventDone))
	all := results(t, events)
	if len(all) != 2 {
		t.Fatalf("%s", types(events))
	}
	for id, r := range all {
		if !r.Success || r.Total != 2 {
			t.Fatalf("%s: %+v", id, r)
		}
		for _, item := range r.Data {
			if other := map[string]string{"R1": "R2", "R2": "R1"}[item.Name]; strings.Contains(item.Result, line(other)) || strings.Contains(item.Result, "hostname "+other) {
				t.Errorf("%s shows what is %s's: %s", item.Name, other, item.Result)
			}
		}
	}
	for name, full := range device {
		for other := range device {
			if n, want := sent(full, line(other)), map[bool]int{true: 1}[name == other]; n != want {
				t.Errorf("%s was sent %q %d times, want %d", name, line(other), n, want)
			}
		}
	}
}

// TestComputeOnAnotherHost: the consoles of one compute are at another address than the server's, as GNS3 says.
func TestComputeOnAnotherHost(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	device := u.twoRouters("Remote " + session)
	address := freeAddress(t, "127.0.0.2")
	if err := suite.lab.MoveConsole(device["R2"], address); err != nil {
		t.Fatal(err)
	}
	line := "description over there"
	stream, _ := propose(t, u, session, "remote "+session, call(configTool, configure("R2", "interface Loopback7", line)),
		call(commandsTool, readBoth()), text("done"))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	for id, r := range results(t, until(t, stream, isType(schema.EventDone))) {
		if !r.Success {
			t.Errorf("%s: %+v", id, r)
		}
	}
	if sent(device["R2"], line) != 1 || sent(device["R1"], line) != 0 {
		t.Error("the line went elsewhere")
	}

	// F21: GNS3 shows it as started, and nobody answers. The other device's result isn't lost for that.
	if err := suite.lab.SetFault(device["R2"], simlab.Fault{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	if err := suite.lab.Restart(device["R2"]); err != nil {
		t.Fatal(err)
	}
	suite.model.On("refused "+session, call(commandsTool, readBoth()), text("I see"))
	r := toolResult(t, u.say(session, "refused "+session))
	if r.Successful != 1 || r.Failed != 1 {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{"R2 (" + address + ") refuses connections", "127.0.0.2 is the machine that the worker runs on"} {
		if !strings.Contains(r.Data[1].Error, want) {
			t.Errorf("%q is not in %q", want, r.Data[1].Error)
		}
	}
}

// TestNodesSwapUnderAWaitingPush lets a confirmed change wait for a console that another change uses, and the node come back at another port
// meanwhile, where the right to write has to be taken anew. Another node is at the port that was waited for.
func TestNodesSwapUnderAWaitingPush(t *testing.T) {
	u, first, second := login(t, "admin"), newSession(), newSession()
	device := u.twoRouters("Waiting " + first)
	if err := suite.lab.SetFault(device["R1"], simlab.Fault{Slow: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	begin := func(session, line string, state schema.DeviceState) *client.Stream {
		stream, _ := propose(t, u, session, "push of "+session, call(configTool, configure("R1", "interface Loopback7", line)), text("done"))
		if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
			t.Fatal(err)
		}
		until(t, stream, func(ev client.Received) bool {
			return ev.Type == schema.EventDeviceProgress && ev.DeviceProgress.State == state
		})
		return stream
	}
	broken := begin(first, "description of the first", schema.DeviceRunning)
	waits := begin(second, "description of the second", schema.DeviceWaiting)
	if err := suite.lab.SetFault(device["R1"], simlab.Fault{}); err != nil {
		t.Fatal(err)
	}
	swapPorts(t, device["R1"], device["R2"])
	if r := toolResult(t, until(t, broken, isType(schema.EventDone))); r.Success {
		t.Errorf("the push whose console went: %+v", r)
	}
	if r := toolResult(t, until(t, waits, isType(schema.EventDone))); !r.Success {
		t.Errorf("the push that waited: %+v", r)
	}
	if n := sent(device["R1"], "description of the second"); n != 1 {
		t.Errorf("R1 was sent the line %d times", n)
	}
	if lines := suite.lab.Lines(device["R2"]); len(lines) > 0 {
		t.Errorf("R2 was sent %q", lines)
	}
}
