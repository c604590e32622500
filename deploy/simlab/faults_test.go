package simlab_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
)

func (c *terminal) fault(lab *simlab.Lab, f simlab.Fault) {
	c.t.Helper()
	if err := lab.SetFault("R1", f); err != nil {
		c.t.Fatal(err)
	}
}

// booted restarts R1 in a state and gives its console.
func booted(t *testing.T, lab *simlab.Lab, state simlab.Boot) *terminal {
	t.Helper()
	if err := lab.SetFault("R1", simlab.Fault{Boot: state}); err != nil {
		t.Fatal(err)
	}
	if err := lab.Restart("R1"); err != nil {
		t.Fatal(err)
	}
	c := dial(t, lab, "R1")
	c.until("Press ENTER to get the prompt.")
	return c
}

func TestBootStates(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	t.Run("login", func(t *testing.T) {
		c := booted(t, lab, simlab.BootLogin)
		c.send("\r")
		c.until("User Access Verification\r\n\r\nUsername: ")
		c.send("someone\rwrong\r")
		c.until("% Login invalid")
		c.until("Username: ")
		c.send(simlab.BootUser + "\r")
		c.until("Password: ")
		c.send(simlab.BootPassword + "\r")
		c.until("R1>")
	})
	t.Run("dialog", func(t *testing.T) {
		c := booted(t, lab, simlab.BootDialog)
		c.send("\r")
		c.until("Would you like to enter the initial configuration dialog? [yes/no]: ")
		c.send("no\r")
		c.until("Press RETURN to get started!")
		c.send("\r")
		c.until("R1>")
	})
	t.Run("ROM monitor", func(t *testing.T) {
		c := booted(t, lab, simlab.BootROM)
		c.send("\r")
		c.until("rommon 2 > ")
		c.send("show version\r")
		c.until(`monitor: command "show" not found`)
		c.send("boot\r")
		c.until("Press RETURN to get started!")
		c.send("\r")
		c.until("R1>")
	})
	t.Run("prompt", func(t *testing.T) {
		c := booted(t, lab, simlab.BootPrompt)
		c.send("\r")
		c.until("\r\nR1>")
		if got := c.ask("show clock", "R1>"); !strings.Contains(got, "UTC") {
			t.Errorf("at once: %q", got)
		}
	})
	t.Run("hang", func(t *testing.T) {
		c := booted(t, lab, simlab.BootHang)
		c.send("\rshow version\r")
		// It is alive again after a restart, and has heard nothing.
		booted(t, lab, simlab.BootNormal).send("\r")
		if rest := c.ends(); strings.Contains(rest, ">") || len(lab.Lines("R1")) > 0 && strings.Contains(strings.Join(lab.Lines("R1"), "\n"), "show version\nshow version") {
			t.Errorf("a device that hangs says %q", rest)
		}
	})
}

func TestFaultSilentAfter(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.fault(lab, simlab.Fault{SilentAfter: 2})
	c.ask("interface lo5", "R1(config-if)#")
	c.send("description carried out\r")
	waitFor(t, func() bool { return slices.Contains(lab.Lines("R1"), "description carried out") })
	c.fault(lab, simlab.Fault{})
	c.send("\r")
	c.until("R1(config-if)#")
	if got := c.ask("do show run int lo5", "R1(config-if)#"); !strings.Contains(got, "carried out") {
		t.Errorf("the line was lost: %q", got)
	}
}

// waitFor looks again and again until something has happened.
func waitFor(t *testing.T, happened func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !happened(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatal("it never happened")
		}
	}
}

func TestFaultRefuse(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	address, err := lab.Console("R1")
	if err != nil {
		t.Fatal(err)
	}
	c.fault(lab, simlab.Fault{Refuse: true})
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("it still accepts")
	}
	if got := c.ask("show clock", "R1#"); !strings.Contains(got, "UTC") {
		t.Errorf("who was connected is cut off: %q", got)
	}
	c.fault(lab, simlab.Fault{})
	if again, err := lab.Console("R1"); err != nil || again != address {
		t.Errorf("it moved from %s to %s: %v", address, again, err)
	}
	again := dial(t, lab, "R1")
	again.send("\r")
	again.until("R1#")
	// A lab can end while a console refuses.
	c.fault(lab, simlab.Fault{Refuse: true})
}

func TestFaultInterject(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	noise := "*Mar  1 00:00:01.000: %LINK-3-UPDOWN: Interface Serial9/9, changed state to up"
	c.fault(lab, simlab.Fault{Interject: noise})
	if got := c.ask("show ip interface brief", "R1#"); !strings.Contains(got, "Protocol\r\n"+noise+"\r\nFastEthernet0/0 ") {
		t.Errorf("no noise inside %q", got)
	}
	if got := c.ask("show version", "R1#"); strings.Count(got, noise) != 1 {
		t.Errorf("noise in %q", got)
	}
	c.fault(lab, simlab.Fault{})
	if got := c.ask("show version", "R1#"); strings.Contains(got, noise) {
		t.Errorf("still noisy: %q", got)
	}
}

func TestFaultSlowEcho(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.fault(lab, simlab.Fault{SlowEcho: 2 * time.Millisecond})
	began := time.Now()
	c.ask("show clock", "R1#")
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("eleven keys in %v", took)
	}
}

// TestMessagesInterruptTyping shows what "logging synchronous" does: the half-typed line is drawn again below a message.
func TestMessagesInterruptTyping(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r3, r4 := router(t, lab, "R3"), router(t, lab, "R4")
	r3.eventually("show logging", "R3#", "from LOADING to FULL")
	r3.send("show cl")
	r3.until("show cl")
	r4.ask("conf t", "R4(config)#")
	r4.ask("interface fa0/1", "R4(config-if)#")
	r4.send("shutdown\r")
	r3.until("Neighbor Down: Dead timer expired\r\nR3#show cl")
	r3.send("ock\r")
	r3.until("UTC")
	r4.until("R4(config-if)#")
	r4.ask("no logging console", "R4(config)#")
	r4.ask("interface lo50", "R4(config-if)#")
	if got := r4.ask("do show logging", "R4(config-if)#"); !strings.Contains(got, "Loopback50, changed state to up") || !strings.Contains(got, "Console logging: disabled") {
		t.Errorf("the log: %q", got)
	}
}
