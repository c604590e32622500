package simlab_test

import (
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestSpellingsOfDanger types what a careless or cunning hand types. Each asks its own question; any other key than Enter and y
// answers no, and nothing happens.
func TestSpellingsOfDanger(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	const reload, nvram = "Proceed with reload? [confirm]", "Erasing the nvram filesystem will remove all configuration files! Continue? [confirm]"
	tests := map[string]string{
		"reload": reload, "rel": reload, "RELOAD": reload, "  ReLo  ": reload, "rel\t": reload, "reload   \t": reload,
		"write erase": nvram, "wr er": nvram, "WR ER": nvram, "write\terase": nvram, "er st": nvram, "era start": nvram, "erase startup-config": nvram,
		"erase nvram:": nvram, "erase NVRAM:": nvram, "format flash:": "Format operation may take a while. Continue? [confirm]",
		"era fl": "Erasing the flash filesystem will remove all files! Continue? [confirm]", "for flash:": "Format operation",
		"delete flash:x": "Delete filename [x]? ", "del FLASH:x": "Delete filename [x]? ",
		"clear logging": "Clear logging buffer [confirm]", "cle count": "[confirm]", "debug all": "Continue? (yes/[no]): ",
		"copy start run": "Destination filename [running-config]? ", "cop ru st": "Destination filename [startup-config]? ",
	}
	ask := func(prompt, line, want string) {
		t.Helper()
		c.send(line + "\r")
		c.until(want)
		if strings.HasSuffix(want, "]") {
			c.send("n")
		} else {
			c.send("\x03")
		}
		c.until(prompt)
	}
	for line, want := range tests {
		ask("R1#", line, want)
	}
	for _, enter := range []string{"conf t", "CONF T", "config term", "configure\tterminal", "  conf   t  "} {
		c.send(enter + "\r")
		c.until("R1(config)#")
		c.send("end\r")
		c.until("%SYS-5-CONFIG_I")
		c.until("R1#")
	}
	c.ask("conf t", "R1(config)#")
	for line, want := range tests {
		ask("R1(config)#", "do "+line, want)
		ask("R1(config)#", "do\t"+line, want)
	}
	ask("R1(config)#", "DO  reload", reload)
	c.ask("! do reload", "R1(config)#")
	c.ask("!reload", "R1(config)#")
	if got := c.ask("d reload", "R1(config)#"); !strings.Contains(got, "% Ambiguous") && !strings.Contains(got, "% Invalid") {
		t.Errorf("do isn't abbreviated: %q", got)
	}
	c.ask("interface fa0/0", "R1(config-if)#")
	ask("R1(config-if)#", "do rel", reload)
	if got := c.ask("do show startup-config | include hostname", "R1(config-if)#"); !strings.Contains(got, "hostname R1") {
		t.Errorf("something happened after all: %q", got)
	}
}

func TestReloadShowsABootAndHearsNothing(t *testing.T) {
	lab := start(t, simlab.Options{Pace: 0.2})
	c, p := router(t, lab, "R1"), pc(t, lab, "PC1")
	c.send("reload\r")
	c.until("[confirm]")
	c.send("\r")
	c.until("%SYS-5-RELOAD: Reload requested by console. Reload Reason: Reload Command.")
	c.until("Self decompressing the image : ")
	c.send("show version\rconf t\r")
	c.until("Press RETURN to get started!")
	c.send("\r")
	c.until("%SYS-5-RESTART")
	c.until("R1>")
	if got := c.ask("show history", "R1>"); strings.Contains(got, "show version") {
		t.Errorf("typed during the boot: %q", got)
	}
	if got := p.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("after the boot: %q", got)
	}
}

func TestErasedRouterAsksForItsSetup(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("erase startup-config\r")
	c.until("[confirm]")
	c.send("\r")
	c.until("Erase of nvram: complete")
	c.until("R1#")
	c.send("reload\r")
	c.until("Save? [yes/no]: ")
	c.send("no\r")
	c.until("[confirm]")
	c.send("y")
	c.until("--- System Configuration Dialog ---")
	c.until("Would you like to enter the initial configuration dialog? [yes/no]: ")
	c.send("maybe\r")
	c.until("% Please answer 'yes' or 'no'.")
	c.send("no\r")
	c.until("Press RETURN to get started!")
	c.send("\r")
	c.until("Router>")
	c.ask("enable", "Router#")
	if got := c.ask("show ip interface brief", "Router#"); !strings.Contains(got, "FastEthernet0/0            unassigned      YES unset  administratively down down") {
		t.Errorf("an empty router: %q", got)
	}
}

func TestFlash(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("copy running-config flash:\r")
	c.until("Destination filename [running-config]? ")
	c.send("keep.cfg\r")
	c.until("bytes copied")
	c.until("R1#")
	if got := c.ask("dir", "R1#"); !strings.Contains(got, "keep.cfg") {
		t.Errorf("dir: %q", got)
	}
	c.ask("conf t", "R1(config)#")
	c.ask("hostname OTHER", "OTHER(config)#")
	c.ask("end", "OTHER#")
	c.send("copy flash:keep.cfg running-config\r")
	c.until("Destination filename [running-config]? ")
	c.send("\r")
	c.until("bytes copied")
	c.until("R1#")
	c.send("delete flash:keep.cfg\r")
	c.until("Delete filename [keep.cfg]? ")
	c.send("\r")
	c.until("Delete flash:keep.cfg? [confirm]")
	c.send("\r")
	c.until("R1#")
	if got := c.ask("dir flash:", "R1#"); strings.Contains(got, "keep.cfg") {
		t.Errorf("deleted: %q", got)
	}
	c.send("copy flash:keep.cfg start\r")
	c.until("]? ")
	c.send("\r")
	c.until("%Error opening flash:keep.cfg (No such file or directory)")
	c.until("R1#")
	c.send("copy run tftp:\r")
	c.until("Address or name of remote host []? ")
	c.send("10.0.0.9\r")
	c.until("]? ")
	c.send("\r")
	c.until("(Timed out)")
}
