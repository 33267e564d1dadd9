package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// modEvents passes reports of the mod to the session and, except for attention, to the bridges.
type modEvents struct {
	session   *session.Session
	mod       *mod
	intake    *intake
	server    *gabp.Server
	attention bool        // is heed's, not the mod's
	unacked   chan string // ids of the mod's items, to be acknowledged to it
	log       *slog.Logger
}

// up implements [observer].
func (m *modEvents) up(again bool) {
	w, _ := m.mod.welcome()
	m.intake.connected(w.Capabilities.Events)
	if again {
		m.session.Observe(event.State{Status: event.StatusConnected, Detail: "the mod answers again"}.Entry())
	}
}

// down implements [observer].
func (m *modEvents) down(err error) {
	m.log.Info("the connection to the mod ended", "error", err)
	if !m.mod.awaitEnd(context.Background()) { // else the game has ended, which is recorded
		m.session.Observe(event.State{Status: event.StatusDisconnected, Detail: "the connection to the mod was lost"}.Entry())
	}
}

// event implements [observer]: it ingests an event of the mod, and passes it on.
func (m *modEvents) event(e gabp.Event) {
	m.mod.heard.Add(1)
	if e.Lost > 0 {
		m.mod.lost.Add(e.Lost)
		m.log.Warn("events of the mod were dropped: they came faster than heed can read them", "lost", e.Lost)
	}
	switch {
	case m.attention && strings.HasPrefix(e.Channel, "attention/"):
		m.offer(m.intake.takeAttention(e.Payload))
		return
	case isLogChannel(e.Channel):
		m.intake.takeLog(e.Payload)
	case isOperationChannel(e.Channel) && !m.mod.calls.any():
		m.intake.takeOperation(e.Payload)
	}
	var err error
	if strings.HasPrefix(e.Channel, "attention/") { // attention is left to the mod
		err = m.server.Publish(e.Channel, "", e.Payload, nil)
	} else {
		err = m.server.Pass(e.Channel, m.mod.missed(&e), e.Payload)
	}
	if err != nil {
		m.log.Warn("an event of the mod cannot be passed on", "channel", e.Channel, "error", err)
	}
}

// acknowledgeAll acknowledges ingested items to the mod, so that it does not gather open items, until ctx is done.
func (m *modEvents) acknowledgeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-m.unacked:
			m.acknowledge(ctx, id)
		}
	}
}

func (m *modEvents) acknowledge(ctx context.Context, id string) {
	client := m.mod.current()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var answer struct {
		Current json.RawMessage `json:"currentAttention"`
	}
	if err := client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		m.log.Debug("the mod's attention could not be acknowledged", "error", err)
		return
	}
	// The next event of an item that is still open acknowledges it.
	if next := textOf(memberOf(answer.Current, "attentionId")); next != id {
		m.offer(next)
	}
}

// offer has an item acknowledged, "" for none.
func (m *modEvents) offer(id string) {
	if id == "" {
		return
	}
	select {
	case m.unacked <- id:
	default: // one is being acknowledged; its answer has the next
	}
}
