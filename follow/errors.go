package follow

import "errors"

// ErrStopped says that the Follower does not run any more.
var ErrStopped = errors.New("follow: the follower has stopped")
