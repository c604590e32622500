package stack

import (
	"context"
	"database/sql"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// gauges show the state of the connections whenever somebody looks, until the returned function is called.
func (s *Stack) gauges(m metric.Meter) (stop func() error, err error) {
	nats, err1 := m.Int64ObservableGauge("copilot_nats_connected", metric.WithDescription("1 while NATS can be reached."))
	conns, err2 := m.Int64ObservableGauge("copilot_database_connections", metric.WithDescription("Open database connections, by pool and state."))
	waits, err3 := m.Int64ObservableCounter("copilot_database_waits", metric.WithDescription("How often a database connection had to be waited for."))
	waited, err4 := m.Float64ObservableCounter("copilot_database_wait", metric.WithUnit("s"), metric.WithDescription("How long, all together."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	registered, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		connected := int64(0)
		if s.bus.Connected() {
			connected = 1
		}
		o.ObserveInt64(nats, connected)
		for name, pool := range s.store.Pools() {
			observePool(o, name, pool, conns, waits, waited)
		}
		return nil
	}, nats, conns, waits, waited)
	if err != nil {
		return nil, err
	}
	return registered.Unregister, nil
}

func observePool(o metric.Observer, name string, pool sql.DBStats, conns, waits metric.Int64Observable, waited metric.Float64Observable) {
	of := attribute.String("pool", name)
	o.ObserveInt64(conns, int64(pool.InUse), metric.WithAttributes(of, attribute.String("state", "in_use")))
	o.ObserveInt64(conns, int64(pool.Idle), metric.WithAttributes(of, attribute.String("state", "idle")))
	o.ObserveInt64(waits, pool.WaitCount, metric.WithAttributes(of))
	o.ObserveFloat64(waited, pool.WaitDuration.Seconds(), metric.WithAttributes(of))
}
