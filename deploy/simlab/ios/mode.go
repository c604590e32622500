package ios

// mode is where the command line stands.
type mode int

const (
	modeUser mode = iota
	modeEnabled
	modeConfig
	modeInterface
	modeSubinterface
	modeRange
	modeNull
	modeRouter
	modeLine
	modeStandard // a standard access list
	modeExtended
	modeVLAN
	modeControlPlane
)

// maxConfigName is how much of a long hostname fits into a configuration prompt.
const maxConfigName = 20

// suffix is what the prompt has after the hostname.
func (m mode) suffix() string {
	switch m {
	case modeUser:
		return ">"
	case modeEnabled:
		return "#"
	case modeInterface, modeNull:
		return "(config-if)#"
	case modeSubinterface:
		return "(config-subif)#"
	case modeRange:
		return "(config-if-range)#"
	case modeRouter:
		return "(config-router)#"
	case modeLine:
		return "(config-line)#"
	case modeStandard:
		return "(config-std-nacl)#"
	case modeExtended:
		return "(config-ext-nacl)#"
	case modeVLAN:
		return "(config-vlan)#"
	case modeControlPlane:
		return "(config-cp)#"
	}
	return "(config)#"
}

// prompt is what the device prints when it waits for a command.
func (s *shell) prompt() string {
	name := s.r.hostname
	if s.configuring() && len(name) > maxConfigName {
		name = name[:maxConfigName]
	}
	return name + s.mode.suffix()
}

func (s *shell) configuring() bool { return s.mode >= modeConfig }

func (s *shell) level() level {
	if s.mode == modeUser {
		return anyone
	}
	return privileged
}

// sections gives where a stored command goes: to what is being configured, else to its global section.
func (s *shell) sections(global string) []string {
	switch s.mode {
	case modeInterface, modeSubinterface, modeRange, modeNull:
		var all []string
		for _, name := range s.ifaces {
			all = append(all, "interface "+name)
		}
		return all
	case modeRouter:
		return []string{s.routerSection()}
	case modeLine:
		return []string{s.line}
	case modeVLAN:
		var all []string
		for _, id := range s.vlans {
			all = append(all, vlanSection(id))
		}
		return all
	}
	return []string{global}
}
