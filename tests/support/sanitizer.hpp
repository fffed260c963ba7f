#pragma once

// Thread sanitizer does not survive a fork of a program with threads: fork tests are left out of its build.
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
