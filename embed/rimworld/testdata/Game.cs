// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

using System;
using System.Collections.Generic;
using System.Threading;
using HeedRimWorld;
using UnityEngine;
using Verse;

/// <summary>
/// A game of the stubs: its thread runs frames and what others hand it, as the dispatcher of a bridge mod does. The game
/// lasts from Start to Quit.
/// </summary>
internal sealed class Game
{
    private readonly List<Work> queue = new List<Work>();
    private readonly Thread thread;
    private readonly string folder;
    private readonly Application.LogCallback log;
    private readonly ManualResetEvent inMenu = new ManualResetEvent(false);
    private bool ended;
    private int frame;

    private sealed class Work
    {
        public int Frame;
        public Action Do;
        public ManualResetEventSlim Done;
    }

    /// <summary>The mod is in the folder; log, which may be null, receives the game's log.</summary>
    public Game(string folder, Application.LogCallback log = null)
    {
        this.folder = folder;
        this.log = log;
        thread = new Thread(Run) { Name = "game" };
    }

    /// <summary>Returns when the menu is there.</summary>
    public void Start()
    {
        thread.Start();
        inMenu.WaitOne();
    }

    public void Quit()
    {
        Do(() => ended = true);
        thread.Join();
    }

    /// <summary>Runs work on the game's thread, between two frames, and waits until it is done.</summary>
    public void Do(Action work) { Later(0, work).Wait(); }

    /// <summary>Runs work on the game's thread some frames from now.</summary>
    public ManualResetEventSlim Later(int frames, Action work)
    {
        var done = new ManualResetEventSlim();
        lock (queue)
            queue.Add(new Work { Frame = frame + frames, Do = work, Done = done });
        return done;
    }

    /// <summary>Waits until the game has come through some frames more.</summary>
    public void Frames(int n) { Later(n, () => { }).Wait(); }

    private void Run()
    {
        EngineStub.GameThread = Thread.CurrentThread;
        Application.logMessageReceivedThreaded += Log.Notify_MessageReceivedThreadedInternal;
        Application.logMessageReceivedThreaded += log;
        var pack = Add("heed", "heedlog.heed", folder, typeof(HeedForRimWorld));
        Add("Lantern Festival", "someone.lanternfestival", "2890000001");
        Add("QuarryPlus", "someone.quarryplus", "2890000002");

        // The game makes its mods on a thread of its own, in a long event.
        GameStub.LongEventBegins();
        var loading = new Thread(() => new HeedForRimWorld(pack));
        loading.Start();
        loading.Join();
        Log.Message("RimWorld 1.6.4566 rev607");
        GameStub.LongEventEnds();
        Step();
        inMenu.Set();
        while (!ended)
            Step();
        EngineStub.Quit();
    }

    private static ModContentPack Add(string name, string packageId, string folder, params Type[] types)
    {
        var pack = new ModContentPack
        {
            Name = name, PackageId = packageId, RootDir = folder, FolderName = System.IO.Path.GetFileName(folder),
        };
        foreach (var type in types)
            pack.assemblies.loadedAssemblies.Add(type.Assembly);
        GameStub.Mods.Add(pack);
        return pack;
    }

    private void Step()
    {
        var due = new List<Work>();
        lock (queue)
        {
            frame++;
            due.AddRange(queue.FindAll(w => w.Frame < frame));
            queue.RemoveAll(w => w.Frame < frame);
        }
        foreach (var work in due)
        {
            work.Do();
            work.Done.Set();
        }
        EngineStub.Frame();
        Thread.Sleep(1);
    }

    /// <summary>A saved game is loaded: a long event on another thread, while frames go on.</summary>
    public void Load(string name, Action work)
    {
        Do(GameStub.LongEventBegins);
        Frames(2);
        var loading = new Thread(() =>
        {
            Log.Message("Loading game from file " + name + " with mods:\n  - Ludeon.RimWorld\n  - heedlog.heed");
            Current.ProgramState = ProgramState.MapInitializing;
            work();
            Current.ProgramState = ProgramState.Playing;
        });
        loading.Start();
        loading.Join();
        Do(GameStub.LongEventEnds);
        Frames(2);
    }

    /// <summary>The game is saved: on its own thread, in one frame.</summary>
    public void Save(Action work)
    {
        Do(() =>
        {
            Scribe.mode = LoadSaveMode.Saving;
            work();
            Scribe.mode = LoadSaveMode.Inactive;
        });
        Frames(2);
    }
}
