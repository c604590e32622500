package main

import (
	"testing"
)

// TestPlanFollowsFromItsSeed makes each plan twice: a seed that is printed with a violation must replay it.
func TestPlanFollowsFromItsSeed(t *testing.T) {
	plans := map[string]uint64{}
	for seed := range uint64(100) {
		p := newPlan(seed).String()
		if again := newPlan(seed).String(); again != p {
			t.Errorf("seed %d:\n%s%s", seed, p, again)
		}
		plans[p] = seed
	}
	if len(plans) != 100 {
		t.Errorf("100 seeds have %d plans", len(plans))
	}
}

// TestPlansHitWhereItHurts looks at the schedules that CI runs: each kind of event, word and manner is among them, and most turns are hit in
// a push, at the decision, or right behind the model's call.
func TestPlansHitWhereItHurts(t *testing.T) {
	kinds, words, manners := map[kind]int{}, map[word]int{}, map[manner]int{}
	turns, hit := 0, 0
	for seed := range uint64(60) {
		for _, turn := range newPlan(1 + seed).turns {
			turns++
			words[turn.word]++
			manners[turn.manner]++
			aimed := false
			for _, e := range turn.events {
				kinds[e.kind]++
				aimed = aimed || e.moment != begin
			}
			if aimed {
				hit++
			}
		}
	}
	for _, k := range []kind{
		killWorker, freezeWorker, killAPI, killTemporal, killNATS, abort, resetPush, resetWord, resetBegin, terminate, decideAgain,
	} {
		if kinds[k] == 0 {
			t.Errorf("no %s in %v", k, kinds)
		}
	}
	if len(words) != 3 || len(manners) != 3 {
		t.Errorf("words %v, manners %v", words, manners)
	}
	if hit*3 < turns*2 {
		t.Errorf("%d of %d turns are hit where it hurts", hit, turns)
	}
}
