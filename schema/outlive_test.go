package schema

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		longer, cancel := Outlive(ctx, time.Second)
		defer cancel()
		cancelled, cancelNow := Outlive(ctx, time.Second)
		if longer.Value(key{}) != "value" {
			t.Error("the values are lost")
		}
		lasts := func(d time.Duration) bool {
			select {
			case <-longer.Done():
				return false
			case <-time.After(d):
				return true
			}
		}
		if !lasts(time.Hour) {
			t.Fatal("it ends before the other does")
		}
		end()
		cancelNow()
		if cancelled.Err() == nil {
			t.Error("it can't be cancelled")
		}
		if !lasts(time.Second - 1) {
			t.Fatal("it ends with the other")
		}
		if lasts(2) {
			t.Error("it doesn't end")
		}
	})
}
