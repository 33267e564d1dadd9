package main

import (
	"github.com/heedlog/heed"
	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// ours starts the parts of heed. All of them mask as the default rules do.
type ours struct {
	rules      *rules.Set
	normalizer *signature.Normalizer
}

func newHeed() (*ours, error) {
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		return nil, err
	}
	n, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	return &ours{rules: set, normalizer: n}, nil
}

// startKey starts the signature alone.
func (o *ours) startKey(watched bool) (peer, error) {
	return newHash(watched, func(l *line) uint64 { return o.normalizer.Key(l.message, l.stack).Hash }), nil
}

// classifyPeer is signature, group and decision.
type classifyPeer struct {
	classifier *classify.Classifier
	merges     []signature.GroupMerge
	clock      clock
}

func (o *ours) startClassify(bool) (peer, error) {
	c, err := classify.New(classify.Config{Rules: o.rules, Normalizer: o.normalizer})
	return &classifyPeer{classifier: c}, err
}

func (p *classifyPeer) prepare([]line) {}

func (p *classifyPeer) feed(lines []line) {
	for i := range lines {
		l := &lines[i]
		record := event.Log{Time: p.clock.next(), Level: l.level, Message: l.message, Stack: l.stack}
		entry := record.Entry()
		p.classifier.Classify(&entry)
		p.merges = p.classifier.Groups().Merges(p.merges[:0])
	}
}

func (p *classifyPeer) tally() (tally, error) {
	return tally{Groups: p.classifier.Stats().Groups.Groups}, nil
}

// enginePeer is all of heed: signature, group, decision, item and journal.
type enginePeer struct {
	engine  *heed.Engine
	updates []heed.Update
	clock   clock
}

func (o *ours) startEngine(bool) (peer, error) {
	e, err := heed.New(heed.Config{Rules: o.rules})
	return &enginePeer{engine: e}, err
}

func (p *enginePeer) prepare([]line) {}

// feed also takes the updates, as a host would now and then.
func (p *enginePeer) feed(lines []line) {
	for i := range lines {
		l := &lines[i]
		p.engine.Log(event.Log{Time: p.clock.next(), Level: l.level, Message: l.message, Stack: l.stack})
	}
	p.updates = p.engine.Updates(p.updates[:0])
}

func (p *enginePeer) tally() (tally, error) {
	stats := p.engine.Stats()
	return tally{Groups: stats.Classify.Groups.Groups, Counted: int(stats.Ignored + stats.Folded)}, stats.Check()
}
