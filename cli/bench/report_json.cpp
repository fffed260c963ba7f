#include "bench/report.hpp"
#include "text/json.hpp"

namespace holdfast::cli {

namespace {

double microseconds(std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e3; }

json_value object_of(const measurement& m) {
  json_value it(json_value::object{{"part", m.part},
                                   {"what", m.what},
                                   {"operations", m.times.count()},
                                   {"seconds", m.counted.count()},
                                   {"per_second", m.per_second()},
                                   {"min_us", microseconds(m.times.min())},
                                   {"p50_us", microseconds(m.times.at_share(0.5))},
                                   {"p99_us", microseconds(m.times.at_share(0.99))},
                                   {"max_us", microseconds(m.times.max())},
                                   {"histogram", json_value::array()}});
  for (const histogram::row& r : m.times.rows()) {
    it["histogram"].push_back(json_value::object{{"up_to_us", microseconds(r.up_to)}, {"count", r.count}});
  }
  return it;
}

}  // namespace

std::string as_json(const bench_report& all) {
  json_value it(json_value::object{{"store", all.store},
                                   {"time", std::chrono::duration<double>(all.time).count()},
                                   {"threads", all.threads},
                                   {"interrupted", all.interrupted},
                                   {"raw", all.raw ? object_of(*all.raw) : json_value()},
                                   {"parts", json_value::array()}});
  for (const measurement& m : all.parts) it["parts"].push_back(object_of(m));
  return it.dump(json_value::charset::utf8, 2) + "\n";
}

}  // namespace holdfast::cli
