package bridge

import (
	"context"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// up begins with a connection to the mod, before its first event.
func (p *Proxy) up(again bool) {
	w, _ := p.mod.welcome()
	p.intake.connected(w.Capabilities.Events)
	if again {
		p.session.Observe(event.State{Status: event.StatusConnected, Detail: "the mod answers again"}.Entry())
	}
}

// down records that the connection to the mod has ended.
func (p *Proxy) down(err error) {
	p.log.Info("the connection to the mod ended", "error", err)
	if !p.mod.awaitEnd(context.Background()) { // else the game has ended, which is recorded
		p.session.Observe(event.State{Status: event.StatusDisconnected, Detail: "the connection to the mod was lost"}.Entry())
	}
}

// event ingests an event of the mod, and passes it on.
func (p *Proxy) event(e gabp.Event) {
	p.mod.heard.Add(1)
	if e.Lost > 0 {
		p.mod.lost.Add(e.Lost)
		p.log.Warn("events of the mod were dropped: they came faster than heed can read them", "lost", e.Lost)
	}
	switch {
	case p.attends && strings.HasPrefix(e.Channel, "attention/"):
		p.offer(p.intake.takeAttention(e.Payload))
		return
	case isLogChannel(e.Channel):
		p.intake.takeLog(e.Payload)
	case isOperationChannel(e.Channel) && !p.mod.calls.any():
		p.intake.takeOperation(e.Payload)
	}
	var err error
	if strings.HasPrefix(e.Channel, "attention/") { // attention is left to the mod
		err = p.server.Publish(e.Channel, "", e.Payload, nil)
	} else {
		err = p.server.Pass(e.Channel, p.mod.missed(&e), e.Payload)
	}
	if err != nil {
		p.log.Warn("an event of the mod cannot be passed on", "channel", e.Channel, "error", err)
	}
}

// acknowledgeAll acknowledges ingested items to the mod, so that it does not gather open items, until ctx is done.
func (p *Proxy) acknowledgeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.unacked:
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
	answer, err := client.CallRaw(ctx, gabp.MethodAttentionAck, Encode(gabp.AckParams{AttentionID: id}))
	if err != nil {
		p.log.Debug("the mod's attention could not be acknowledged", "error", err)
		return
	}
	// The next event of an item that is still open acknowledges it.
	if next := textIn(answer, "currentAttention", "attentionId"); next != id {
		p.offer(next)
	}
}

// offer has an item acknowledged, "" for none.
func (p *Proxy) offer(id string) {
	if id == "" {
		return
	}
	select {
	case p.unacked <- id:
	default: // one is being acknowledged; its answer has the next
	}
}
