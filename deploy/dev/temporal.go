package dev

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"gns3copilot/deploy/dev/temporaldev"
)

// keptTemporal is a Temporal dev server that is started again when it ends by itself, as it does on a disk that is full.
type keptTemporal struct {
	options temporaldev.Options
	end     context.CancelFunc
	keeping sync.WaitGroup
	mu      sync.Mutex
	server  *temporaldev.Server
}

// revivePause is the least time between two starts.
const revivePause = 2 * time.Second

func startTemporal(ctx context.Context, o temporaldev.Options) (*keptTemporal, error) {
	server, err := temporaldev.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	k := &keptTemporal{options: o, server: server}
	_, port, err := net.SplitHostPort(server.Address())
	if err == nil { // whoever is connected finds it there again
		k.options.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		return nil, fmt.Errorf("read Temporal's address: %w", err)
	}
	keep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k.end = cancel
	k.keeping.Go(func() { k.keep(keep) })
	return k, nil
}

func (k *keptTemporal) current() *temporaldev.Server {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.server
}

// keep waits for the server's end, and starts it again until it runs.
func (k *keptTemporal) keep(ctx context.Context) {
	said := false
	for {
		select {
		case <-k.current().Done():
		case <-ctx.Done():
			return
		}
		if !said {
			k.options.Progress("The Temporal server ended by itself and is started again. Its log is in " + k.options.DataDir + ".")
		}
		err := k.revive(ctx)
		if said = err != nil; said && ctx.Err() == nil {
			k.options.Logger.Error("Temporal isn't started yet", "error", err)
		}
		select {
		case <-time.After(revivePause):
		case <-ctx.Done():
			return
		}
	}
}

func (k *keptTemporal) revive(ctx context.Context) error {
	if err := k.current().Stop(ctx); err != nil {
		return err
	}
	server, err := temporaldev.Start(ctx, k.options)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.server = server
	return nil
}

// Stop ends the server.
func (k *keptTemporal) Stop(ctx context.Context) error {
	k.end()
	k.keeping.Wait()
	return k.current().Stop(ctx)
}
