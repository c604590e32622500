package ios

import (
	"fmt"
	"net/netip"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// runningConfig generates the configuration from the router's state. What boot reads is the same text.
func (r *Router) runningConfig() string {
	var b strings.Builder
	b.WriteString("!\nversion " + r.version() + "\n")
	for _, kind := range timestampKinds() {
		b.WriteString(r.settings.text(timestampSection(kind), ""))
	}
	b.WriteString(r.flagText("service") + "!\nhostname " + r.hostname + "\n!\nboot-start-marker\nboot-end-marker\n!\n")
	b.WriteString(r.flagText(sectionTop) + r.settings.text(sectionTop, "") + r.settings.text("enable", ""))
	b.WriteString("!\n" + r.flagText("aaa") + "!\n" + r.flagText("names") + r.settings.text("names", "") + r.settings.text("users", "") +
		r.flagText("cdp") + "!\n!\n")
	b.WriteString(r.vlanConfig())
	for _, i := range r.inOrder() {
		b.WriteString(r.interfaceConfig(i))
	}
	if lines := r.settings.text("interface "+fabric.NullName, " "); lines != "" {
		b.WriteString("interface " + fabric.NullName + "\n" + lines + "!\n")
	}
	b.WriteString(r.ospfConfig() + r.settings.text("gateway", "") + "ip forward-protocol nd\n")
	for _, route := range r.host.Routes() {
		b.WriteString(routeConfig(route))
	}
	b.WriteString("!\n" + r.flagText("http") + "!\n" + r.listConfig() + r.settings.text(sectionBottom, ""))
	b.WriteString("control-plane\n!\n" + r.bannerText() + "!\n")
	for _, section := range append(append(r.settings.sectionsLike("line con"), r.settings.sectionsLike("line aux")...), r.settings.sectionsLike("line vty")...) {
		b.WriteString(section + "\n" + r.settings.text(section, " "))
	}
	b.WriteString("!\n" + r.settings.text(sectionEnd, "") + "!\nend\n")
	return b.String()
}

// version is the software's, as the configuration says it.
func (r *Router) version() string {
	if r.isSwitch {
		return "15.2"
	}
	return "12.4"
}

// inOrder gives the interfaces as IOS lists them in a configuration: loopbacks first.
func (r *Router) inOrder() []fabric.Interface {
	var loopbacks, others []fabric.Interface
	for _, i := range r.interfaces() {
		if strings.HasPrefix(i.Name, loopbackName) {
			loopbacks = append(loopbacks, i)
		} else {
			others = append(others, i)
		}
	}
	return append(loopbacks, others...)
}

// interfaceConfig is an interface's part of the configuration. Defaults are silent, except for a missing address.
func (r *Router) interfaceConfig(i fabric.Interface) string {
	var b strings.Builder
	b.WriteString("interface " + i.Name + "\n")
	if i.Description != "" {
		b.WriteString(" description " + i.Description + "\n")
	}
	if i.Tag > 0 {
		fmt.Fprintf(&b, " encapsulation dot1Q %d", i.Tag)
		if i.Native {
			b.WriteString(" native")
		}
		b.WriteString("\n")
	}
	switch {
	case i.Switchport.On:
		b.WriteString(switchportConfig(i.Switchport))
	case r.isSwitch && !i.Virtual:
		b.WriteString(" no switchport\n")
	}
	b.WriteString(addressConfig(i))
	if i.FilterIn != "" {
		b.WriteString(" ip access-group " + i.FilterIn + " in\n")
	}
	if i.FilterOut != "" {
		b.WriteString(" ip access-group " + i.FilterOut + " out\n")
	}
	b.WriteString(interfaceOSPFConfig(i.OSPF))
	if i.Shutdown {
		b.WriteString(" shutdown\n")
	}
	section := "interface " + i.Name
	if !i.Virtual && !r.isSwitch {
		for _, word := range []string{"duplex", "speed"} {
			if _, ok := r.settings.find(section, word); !ok {
				b.WriteString(" " + word + " auto\n")
			}
		}
	}
	return b.String() + r.settings.text(section, " ") + "!\n"
}

// addressConfig is the addresses of an interface's configuration, the first one last.
func addressConfig(i fabric.Interface) string {
	if i.Switchport.On {
		return ""
	}
	var b strings.Builder
	line := func(own netip.Prefix, more string) {
		fmt.Fprintf(&b, " ip address %s %s%s\n", own.Addr(), maskOf(own.Bits()), more)
	}
	for _, own := range i.Secondary {
		line(own, " "+secondaryWord)
	}
	switch {
	case i.Address.IsValid():
		line(i.Address, "")
	case len(i.Secondary) == 0:
		b.WriteString(" no ip address\n")
	}
	return b.String()
}

// routeConfig is a static route; a distance of 1 is the default.
func routeConfig(r fabric.Route) string {
	text := fmt.Sprintf("ip route %s %s", r.Prefix.Addr(), maskOf(r.Prefix.Bits()))
	if r.Out != "" {
		text += " " + r.Out
	}
	if r.Via.IsValid() {
		text += " " + r.Via.String()
	}
	if r.Distance != 1 {
		text += fmt.Sprintf(" %d", r.Distance)
	}
	return text + "\n"
}
