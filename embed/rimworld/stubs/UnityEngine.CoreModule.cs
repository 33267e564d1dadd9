// Copyright (c) 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

// The few types of Unity that the mod touches, so that it compiles and runs without the game. Written for heed: names and
// signatures are Unity's, nothing else is. EngineStub drives them, and is not part of Unity.

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;

namespace UnityEngine
{
    public enum LogType { Error, Assert, Warning, Log, Exception }

    public class UnityException : Exception
    {
        public UnityException(string message) : base(message) { }
    }

    public static class Application
    {
        public delegate void LogCallback(string condition, string stackTrace, LogType type);

        internal static LogCallback Callback;

        public static event LogCallback logMessageReceivedThreaded
        {
            add
            {
                lock (typeof(Application))
                    Callback += value;
                EngineStub.OnGameThread("SetLogCallbackDefined");
            }
            remove
            {
                lock (typeof(Application))
                    Callback -= value;
            }
        }

        public static event Action quitting;

        internal static void Quitting() { if (quitting != null) quitting(); }
    }

    public static class Debug
    {
        public static void Log(object message) { EngineStub.Emit(message.ToString(), Stack("Log"), LogType.Log); }
        public static void LogWarning(object message) { EngineStub.Emit(message.ToString(), Stack("LogWarning"), LogType.Warning); }
        public static void LogError(object message) { EngineStub.Emit(message.ToString(), Stack("LogError"), LogType.Error); }

        private static string Stack(string method)
        {
            return "UnityEngine.StackTraceUtility:ExtractStackTrace ()\nUnityEngine.Debug:" + method + " (object)\n";
        }
    }

    public class Object
    {
        public static void DontDestroyOnLoad(Object target) { EngineStub.OnGameThread("DontDestroyOnLoad"); }
    }

    public class Component : Object { }

    public class Behaviour : Component { }

    public class MonoBehaviour : Behaviour { }

    public sealed class GameObject : Object
    {
        public GameObject(string name) { EngineStub.OnGameThread("Internal_CreateGameObject"); }

        public T AddComponent<T>() where T : Component
        {
            var component = Activator.CreateInstance<T>();
            EngineStub.Components.Add(component);
            EngineStub.Send(component, "Awake");
            return component;
        }
    }

    /// <summary>Plays the engine: frames, the log, the end.</summary>
    public static class EngineStub
    {
        internal static readonly List<Component> Components = new List<Component>();

        /// <summary>The thread of the game; whoever sets it is it.</summary>
        public static Thread GameThread;

        /// <summary>Debug.unityLogger.logEnabled.</summary>
        public static volatile bool LogEnabled = true;

        /// <summary>One line of the log, on the calling thread.</summary>
        public static void Emit(string condition, string stackTrace, LogType type)
        {
            var callback = Application.Callback;
            if (LogEnabled && callback != null)
                callback(condition, stackTrace, type);
        }

        public static void Frame() { All("Update"); }

        public static void Pause(bool paused) { All("OnApplicationPause", paused); }

        public static void Quit() { Application.Quitting(); }

        internal static void OnGameThread(string what)
        {
            if (Thread.CurrentThread != GameThread)
                throw new UnityException(what + " can only be called from the main thread.");
        }

        private static void All(string message, params object[] arguments)
        {
            foreach (var component in Components)
                Send(component, message, arguments);
        }

        /// <summary>An exception of a component is a line of the log, as in Unity.</summary>
        internal static void Send(Component component, string message, params object[] arguments)
        {
            var method = component.GetType().GetMethod(message, BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public);
            if (method == null)
                return;
            try
            {
                method.Invoke(component, arguments);
            }
            catch (TargetInvocationException e)
            {
                var cause = e.InnerException;
                Emit(cause.GetType().Name + ": " + cause.Message, cause.StackTrace, LogType.Exception);
            }
        }
    }
}
