package progress

import (
	"context"
	"testing"
	"time"

	"gns3copilot/schema"
)

func TestReloadWithoutAWorker(t *testing.T) {
	b := openBus(t)
	if _, _, err := b.ReloadSkills(t.Context()); schema.CodeOf(err) != schema.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// TestReloadOnSeveralWorkers: all are asked and heard, however long each takes, and one that says nothing is counted.
func TestReloadOnSeveralWorkers(t *testing.T) {
	b := openBus(t)
	begun, release := make(chan struct{}, 2), make(chan struct{})
	slow := func(ctx context.Context) schema.SkillsReload {
		begun <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return schema.SkillsReload{Version: "slow", Success: ctx.Err() == nil}
	}
	quick := func(context.Context) schema.SkillsReload { return schema.SkillsReload{Version: "quick", Success: true} }
	for _, read := range []func(context.Context) schema.SkillsReload{slow, quick} {
		stop, err := b.OnReloadSkills(read)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	go func() {
		<-begun
		time.AfterFunc(2*reloadAck, func() { close(release) }) // long after the others were heard
	}()
	reports, silent, err := b.ReloadSkills(t.Context())
	if err != nil || silent != 0 || len(reports) != 2 || reports[0].Version != "quick" || reports[1].Version != "slow" || !reports[1].Success {
		t.Errorf("%+v %d %v", reports, silent, err)
	}
}

// TestAWorkerStopsWhileItReads: its reading is told to end, and waited for.
func TestAWorkerStopsWhileItReads(t *testing.T) {
	b := openBus(t)
	begun, ended := make(chan struct{}), false
	stop, err := b.OnReloadSkills(func(ctx context.Context) schema.SkillsReload {
		close(begun)
		<-ctx.Done()
		ended = true
		return schema.SkillsReload{}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*reloadAck) // by then the worker was heard
	defer cancel()
	asked := make(chan int, 1)
	go func() {
		_, silent, _ := b.ReloadSkills(ctx)
		asked <- silent
	}()
	<-begun
	if silent := <-asked; silent != 1 {
		t.Errorf("%d workers are silent", silent)
	}
	stop()
	if !ended {
		t.Error("the reading goes on")
	}
}
