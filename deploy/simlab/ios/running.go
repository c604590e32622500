package ios

import (
	"fmt"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// runningConfig generates the configuration from the router's state. What boot reads is the same text.
func (r *Router) runningConfig() string {
	var b strings.Builder
	b.WriteString(`!
version 12.4
service timestamps debug datetime msec
service timestamps log datetime msec
no service password-encryption
!
hostname ` + r.hostname + `
!
boot-start-marker
boot-end-marker
!
!
no aaa new-model
no ip icmp rate-limit unreachable
ip cef
!
no ip domain lookup
!
!
`)
	for _, i := range r.inOrder() {
		b.WriteString(interfaceConfig(i))
	}
	b.WriteString("ip forward-protocol nd\n")
	for _, route := range r.host.Routes() {
		b.WriteString(routeConfig(route))
	}
	b.WriteString(`!
no ip http server
no ip http secure-server
!
control-plane
!
line con 0
 exec-timeout 0 0
 logging synchronous
 transport preferred none
line aux 0
line vty 0 4
 login
!
!
end
`)
	return b.String()
}

// inOrder gives the interfaces as IOS lists them in a configuration: loopbacks first.
func (r *Router) inOrder() []fabric.Interface {
	var loopbacks, others []fabric.Interface
	for _, i := range r.host.Interfaces() {
		if i.Virtual {
			loopbacks = append(loopbacks, i)
		} else {
			others = append(others, i)
		}
	}
	return append(loopbacks, others...)
}

// interfaceConfig is an interface's part of the configuration. Defaults are silent, except for a missing address.
func interfaceConfig(i fabric.Interface) string {
	var b strings.Builder
	b.WriteString("interface " + i.Name + "\n")
	if i.Description != "" {
		b.WriteString(" description " + i.Description + "\n")
	}
	if i.Address.IsValid() {
		fmt.Fprintf(&b, " ip address %s %s\n", i.Address.Addr(), maskOf(i.Address.Bits()))
	} else {
		b.WriteString(" no ip address\n")
	}
	if i.Shutdown {
		b.WriteString(" shutdown\n")
	}
	if !i.Virtual {
		b.WriteString(" duplex auto\n speed auto\n")
	}
	return b.String() + "!\n"
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
