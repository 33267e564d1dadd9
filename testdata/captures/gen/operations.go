package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// object is a JSON object with its members in the order in which they stand.
type object []member

type member struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(fmt.Appendf(b, "%q", m.key), ':'), value...)
	}
	return append(b, '}'), nil
}

// recording writes JSON lines with a clock of its own.
type recording struct {
	c   *capture
	now time.Time
}

func (r *recording) write(o object) {
	line, err := json.Marshal(append(object{{"time", r.now.Format("2006-01-02T15:04:05.000Z07:00")}}, o...))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	r.c.line(string(line))
}

// wait lets time pass, in milliseconds.
func (r *recording) wait(ms int) { r.now = r.now.Add(time.Duration(ms) * time.Millisecond) }

func (r *recording) log(level, source, message string, more ...member) {
	r.write(append(object{{"kind", "log"}, {"level", level}, {"source", source}, {"message", message}}, more...))
}

// operation writes an event of an operation. The method is only on those that
// start it.
func (r *recording) operation(id, status string, more ...member) {
	r.write(append(object{{"kind", "operation"}, {"operation", id}, {"status", status}}, more...))
}

func (r *recording) start(id, method string, more ...member) {
	r.operation(id, "started", append([]member{{"method", method}}, more...)...)
}

func (r *recording) state(status string, more ...member) {
	r.write(append(object{{"kind", "state"}, {"status", status}}, more...))
}

// operations is what a host writes when an agent plays: its own operations with
// the game's log between them.
func operations() *capture {
	c := linux(unity2022_3)
	r := &recording{c: c, now: time.Date(2025, 3, 4, 18, 30, 0, 0, time.UTC)}
	quarry := func(i int) {
		r.log("info", "game", fmt.Sprintf("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 40+i, 61+i*2, i%3+1))
		r.wait(210)
	}

	r.state("connected")
	r.state("phase", member{"phase", "menu"})
	r.wait(1200)

	// A load with a part of its own, during which the game cannot answer.
	r.start("op-1", "rimworld/load_game")
	r.wait(15)
	r.start("op-1.1", "rimworld/read_save", member{"parent", "op-1"})
	r.state("phase", member{"phase", "load"})
	r.state("long_event", member{"detail", "loading the map"})
	r.log("warning", "game",
		"Replaced verb RimWorld.Verb_MeleeAttackDamage/Human88213_1; may have been changed through a version update or a mod change", member{"operation", "op-1.1"})
	r.wait(6100)
	r.operation("op-1.1", "completed")
	r.state("long_event_end")
	r.state("phase", member{"phase", "play"})
	r.operation("op-1", "completed")
	for i := range 40 {
		quarry(i)
	}

	// A success, and what it led to 45 ms later. The game's log does not say
	// which operation it was.
	r.start("op-2", "rimworld/spawn_thing")
	r.wait(30)
	r.operation("op-2", "completed")
	r.wait(45)
	r.log("error", "game", "Exception spawning loaded thing QP_Crusher55120: "+nullReference,
		member{
			"stack",
			"  at QuarryPlus.Building_Crusher.SpawnSetup (Verse.Map map, System.Boolean respawningAfterLoad) [0x0002f] in <1a2b3c4d5e6f40718293a4b5c6d7e8f9>:0 \n  at Verse.GenSpawn.Spawn (Verse.Thing newThing, Verse.IntVec3 loc, Verse.Map map) [0x0021c] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 ",
		})
	r.wait(5000)

	// The caller received the error.
	r.start("op-3", "rimworld/draft_pawn")
	r.wait(8)
	r.operation("op-3", "failed", member{"error", "no pawn named 하윤 on this map"})
	r.wait(3000)
	for i := range 20 {
		quarry(100 + i)
	}

	// Nobody knows how this ended.
	r.start("op-4", "rimworld/start_ritual")
	r.wait(900)
	r.log("error", "game", "Error in LordToil.Init(): "+nullReference, member{"operation", "op-4"},
		member{"stack", lordInitTrace[1:]})
	for i := range 60 {
		r.log("error", "game", fmt.Sprintf("%s doing ThinkNode_Duty with no duty.", pick(colonists, i)))
		r.wait(100)
	}
	r.state("stall", member{"detail", "no frame for 10 s"})
	r.wait(23100)
	r.operation("op-4", "timed_out", member{"error", "no answer after 30 s"})
	r.wait(1500)
	r.state("recovered")
	r.wait(20000)

	// One that the caller stopped, and one that somebody else did.
	r.start("op-5", "rimworld/wait_ticks")
	r.wait(700)
	r.operation("op-5", "cancelled", member{"byCaller", true})
	r.wait(4000)
	r.start("op-6", "rimworld/caravan_form")
	r.wait(2100)
	r.operation("op-6", "cancelled", member{"error", "the window was closed"})
	r.wait(20000)

	// Two parts of one operation at once, each with its own failures; ids and
	// coordinates change every time.
	r.start("op-7", "rimworld/build_plan")
	r.start("op-7a", "rimworld/haul_all", member{"parent", "op-7"})
	r.start("op-7b", "rimworld/place_blueprints", member{"parent", "op-7"})
	for i := range 60 {
		r.wait(35)
		r.log("error", "game", haulFailed(i), member{"operation", "op-7a"})
		if i%10 == 9 {
			r.log("warning", "game", fmt.Sprintf("Not enough squares to get to radius %d. Max is 24.9", 26+i/10),
				member{"operation", "op-7b"})
		}
	}
	r.operation("op-7b", "completed")
	r.operation("op-7a", "failed", member{"error", "60 of 60 things could not be placed"})
	r.operation("op-7", "completed")
	r.wait(20000)

	// Two at once, and an error that may be of either.
	r.start("op-8", "rimworld/set_zone")
	r.start("op-9", "rimworld/select_pawn")
	r.wait(20)
	r.log("error", "game", "Root level exception in OnGUI(): "+nullReference)
	r.operation("op-9", "completed")
	r.operation("op-8", "completed")

	r.write(object{{"kind", "notice"}, {"status", "hole"}, {"count", 16384}, {"detail", "the host dropped a buffer"}})
	r.wait(400)
	r.start("op-10", "rimworld/save_game")
	r.state("phase", member{"phase", "save"})
	r.wait(1800)
	r.state("phase", member{"phase", "play"})
	r.operation("op-10", "completed")
	r.write(object{{"level", "INFO"}, {"msg", "agent session ends"}, {"operations", 10}})
	r.state("disconnected", member{"detail", "the agent closed the connection"})
	return c
}
