package apiserver

import (
	"time"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"
)

// rates bound how often each user does something: so many times a minute on average, as many at once. A nil one bounds nothing.
type rates struct {
	users *middleware.RateLimiterMemoryStore
	each  time.Duration // what one more takes to become allowed
}

// newRates makes the bound of perMinute, none for zero.
func newRates(perMinute int) *rates {
	if perMinute == 0 {
		return nil
	}
	each := time.Minute / time.Duration(perMinute)
	return &rates{each: each, users: middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Every(each), Burst: perMinute,
	})}
}

// allow counts one more of a user's. It fails with CodeRateLimit; what is that the user does too much of.
func (r *rates) allow(userID, what string) error {
	if r == nil {
		return nil
	}
	if ok, err := r.users.Allow(userID); ok || err != nil {
		return err
	}
	e := schema.Errorf(schema.CodeRateLimit, "Too many %s in a short time.", what).WithHint("Wait a moment, then go on more slowly.")
	e.RetryAfter = r.each
	return e
}
