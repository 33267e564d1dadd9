// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !heedunguarded

// The runtime of Go changes the signal handlers of the process that loads it, and threads of Go run on stacks on which
// other handlers must not run. In a library, what the runtime calls is therefore wrapped (by the linker, for this
// library alone):
//
//   - Its threads have all signals blocked but those of faults, SIGCHLD and SIGPROF, so that no other handler of the
//     host runs on them. So no other needs SA_ONSTACK, which a collector that stops threads by signals does not
//     survive.
//   - Its handlers of faults are for its threads. On all others the host's handlers, or the default, do what they did.
//   - It gets no SIGPIPE (it writes to no pipe) and no SIGURG (by which it would preempt its threads).

#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

// ours is whether this thread is one of Go's. It is read in handlers, so it must not be allocated by the first use.
static __thread int ours __attribute__((tls_model("initial-exec")));

static struct sigaction hosts[NSIG], gos[NSIG]; // handlers of faults

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

// program reports whether this is linked into a program, such as a test, and not into a library.
static int program(void) { return getauxval(AT_PHDR) == (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff; }

static void dispatch(int sig, siginfo_t *info, void *context) {
	struct sigaction *to = ours ? &gos[sig] : &hosts[sig];
	if (to->sa_flags & SA_SIGINFO) {
		to->sa_sigaction(sig, info, context);
	} else if (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN) {
		// The fault happens again when this returns. What another process sent does not.
		__real_sigaction(sig, to, NULL);
		if (info->si_code <= 0 && to->sa_handler == SIG_DFL) raise(sig);
	} else {
		to->sa_handler(sig);
	}
}

int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
	struct sigaction host, both;
	if (act == NULL || program() || __real_sigaction(sig, NULL, &host) != 0) return __real_sigaction(sig, act, old);
	switch (sig) {
	case SIGPIPE:
	case SIGURG:
		act = NULL;
		break;
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
		if (!(act->sa_flags & SA_SIGINFO) || ((host.sa_flags & SA_SIGINFO) && host.sa_sigaction == dispatch)) break;
		gos[sig] = *act;
		hosts[sig] = host;
		both = host.sa_handler == SIG_DFL || host.sa_handler == SIG_IGN ? *act : host;
		both.sa_flags = (both.sa_flags & ~(SA_RESETHAND | SA_RESTORER)) | SA_SIGINFO | SA_ONSTACK;
		both.sa_sigaction = dispatch;
		if (old != NULL) *old = host;
		return __real_sigaction(sig, &both, NULL);
	case SIGCHLD: // These two Go does not let its threads block: their handlers get the stack for signals.
	case SIGPROF:
		break;
	default:
		if (act->sa_handler == host.sa_handler &&
			((act->sa_flags ^ (host.sa_flags | SA_ONSTACK)) & ~SA_RESTORER) == 0) {
			act = NULL;
		}
	}
	return __real_sigaction(sig, act, old);
}

typedef struct {
	void *(*run)(void *);
	void *arg;
} start;

static void *begin(void *arg) {
	start s = *(start *)arg;
	free(arg);
	ours = 1;
	return s.run(s.arg);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
	if (program()) return __real_pthread_create(thread, attr, run, arg);
	start *s = malloc(sizeof *s);
	if (s == NULL) return 11; // EAGAIN
	s->run = run;
	s->arg = arg;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = __real_pthread_create(thread, attr, begin, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err != 0) free(s);
	return err;
}
