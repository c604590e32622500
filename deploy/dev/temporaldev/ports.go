package temporaldev

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"gns3copilot/schema"
)

// ports are where the server listens; DataDir remembers them, so that links to the UI survive a restart.
type ports struct {
	Frontend int `json:"port"`
	UI       int `json:"ui_port"`
}

// choosePorts prefers what the caller fixed, then what DataDir remembers, then free ones.
func choosePorts(o Options) (ports, error) {
	remembered, err := loadPorts(o)
	if err != nil {
		o.Logger.Warn("the remembered ports can't be read", "error", err)
	}
	// Both listeners stay open until both ports are chosen, or the same one could be free twice.
	frontend, err := claim(o.IP, o.Port, remembered.Frontend)
	if err != nil {
		return ports{}, err
	}
	defer frontend.Close()
	ui, err := claim(o.IP, o.UIPort, remembered.UI)
	if err != nil {
		return ports{}, err
	}
	defer ui.Close()
	return ports{Frontend: portOf(frontend), UI: portOf(ui)}, nil
}

// claim listens on the fixed port, or else on the preferred one, or else on any.
func claim(ip string, fixed, preferred int) (net.Listener, error) {
	if fixed != 0 {
		listener, err := listen(ip, fixed)
		if err != nil {
			return nil, schema.Errorf(schema.CodeConflict, "Port %d, meant for Temporal, is taken.", fixed).
				WithHint("End what listens there, or choose another port.").WithCause(err)
		}
		return listener, nil
	}
	if preferred != 0 {
		if listener, err := listen(ip, preferred); err == nil {
			return listener, nil
		}
	}
	listener, err := listen(ip, 0)
	if err != nil {
		return nil, fmt.Errorf("find a free port for Temporal: %w", err)
	}
	return listener, nil
}

func listen(ip string, port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func loadPorts(o Options) (ports, error) {
	var p ports
	text, err := os.ReadFile(o.path(portsFile))
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return ports{}, err
	}
	return p, nil
}

func savePorts(o Options, p ports) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(o.path(portsFile), append(text, '\n'), 0o600)
}
