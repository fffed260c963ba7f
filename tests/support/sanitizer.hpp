#pragma once

// Thread sanitizer does not support a fork of a program with threads, so its build omits the fork tests.
#if defined(__SANITIZE_THREAD__)
#define HOLDFAST_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOLDFAST_UNDER_TSAN 1
#endif
#endif
#ifndef HOLDFAST_UNDER_TSAN
#define HOLDFAST_UNDER_TSAN 0
#endif
