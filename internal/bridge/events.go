package bridge

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

func (p *Proxy) onUp(again bool) {
	defer p.callBack()
	w, _ := p.mod.welcome()
	p.intake.connected(w.Capabilities.Events)
	if again {
		p.cfg.Session.State(event.State{Status: event.StatusConnected, Detail: "the mod answers again"})
	}
}

func (p *Proxy) onDown(err error) {
	p.log.Info("the connection to the mod ended", "error", err)
	select {
	case <-p.gone: // the game has ended, and says so itself
	default:
		p.cfg.Session.State(event.State{Status: event.StatusDisconnected, Detail: "the connection to the mod was lost"})
	}
}

// onEvent takes in what the mod tells, and passes it on.
func (p *Proxy) onEvent(e gabp.Event) {
	if e.Lost > 0 {
		p.lost.Add(e.Lost)
		p.log.Warn("events of the mod were lost: they came faster than they can be taken in", "lost", e.Lost)
	}
	switch {
	case p.plane != nil && strings.HasPrefix(e.Channel, "attention/"):
		if id := p.intake.takeAttention(e.Payload); id != "" {
			select {
			case p.taken <- id:
			default: // one is being acknowledged; what is open then comes again with its answer
			}
		}
		return
	case isLogChannel(e.Channel):
		p.intake.takeLog(e.Payload)
	case isOperationChannel(e.Channel) && p.inFlight.Load() == 0:
		p.intake.takeOperation(e.Payload)
	}
	var err error
	if strings.HasPrefix(e.Channel, "attention/") { // the mod's own, which is left to it
		err = p.server.Publish(e.Channel, "", e.Payload)
	} else {
		err = p.server.Pass(e.Channel, p.mod.missed(&e), e.Payload)
	}
	if err != nil {
		p.log.Warn("an event of the mod cannot be passed on", "channel", e.Channel, "error", err)
	}
}

// takeOver acknowledges to the mod what was taken in of its attention, so that it
// does not gather what nobody looks at.
func (p *Proxy) takeOver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.taken:
			p.acknowledge(ctx, id)
		}
	}
}

func (p *Proxy) acknowledge(ctx context.Context, id string) {
	client := p.mod.current()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var answer struct {
		Current json.RawMessage `json:"currentAttention"`
	}
	if err := client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		p.log.Debug("the mod's attention could not be acknowledged", "error", err)
		return
	}
	// The next event of an item that is still open acknowledges it.
	if next := textOf(memberOf(answer.Current, "attentionId")); next != "" && next != id {
		select {
		case p.taken <- next:
		default:
		}
	}
}

// hearTimeout bounds how long an answer waits for what the mod told before it.
const hearTimeout = 500 * time.Millisecond

// hear takes in what the mod has told so far.
func (p *Proxy) hear(ctx context.Context, client *gabp.Client) {
	ctx, cancel := context.WithTimeout(ctx, p.within(hearTimeout))
	defer cancel()
	if err := client.Handled(ctx); err != nil {
		p.log.Debug("not all that the mod told was taken in in time", "error", err)
	}
}

// sync takes in everything that is there: what the mod told, and the log.
func (p *Proxy) sync(ctx context.Context) error {
	if client := p.mod.current(); client != nil {
		p.hear(ctx, client)
	}
	return p.cfg.Session.Sync(ctx)
}
