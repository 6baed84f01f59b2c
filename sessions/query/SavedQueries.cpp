// Queries that come with the program: `query --saved ID`. To add one: a row here, and its test runs by itself. What a row is about
// stands first, which a chart draws along x; rank and capture last.
#include "sessions/query/SessionQuery.h"

namespace stepscope {

const std::vector<SavedQuery>& savedQueries() {
    static const std::vector<SavedQuery> all{
        {"top-operations", "Operations by their own time",
         "SELECT name, count(*) AS calls, round(total(self_ns) / 1e6, 3) AS self_ms, round(total(dur_ns) / 1e6, 3) AS total_ms,\n"
         "       round(avg(dur_ns) / 1e3, 1) AS mean_us\n"
         "FROM op\n"
         "GROUP BY name\n"
         "ORDER BY self_ms DESC\n"
         "LIMIT 25"},
        {"top-kernels", "Kernels by their time",
         "WITH launched AS (SELECT name, grid, block, count(*) AS calls, total(dur_ns) AS ns FROM kernel GROUP BY name, grid, block)\n"
         "SELECT name, sum(calls) AS calls, round(total(ns) / 1e6, 3) AS total_ms, round(total(ns) / sum(calls) / 1e3, 1) AS mean_us,\n"
         "       grid, block, round(100.0 * max(ns) / total(ns), 1) AS so_launched_pct\n"
         "FROM launched\n"
         "GROUP BY name\n"
         "ORDER BY total_ms DESC\n"
         "LIMIT 25"},
        {"time-per-layer", "Each layer's own time on the host and in kernels, forwards and backwards",
         "WITH spent AS (\n"
         "  SELECT layer, role, phase, self_ns AS host_ns, 0 AS kernel_ns FROM op\n"
         "  UNION ALL\n"
         "  SELECT layer, role, phase, 0, dur_ns FROM kernel\n"
         ")\n"
         "SELECT coalesce('layer ' || layer, role, 'none') AS place,\n"
         "       round(total(host_ns) FILTER (WHERE phase = 'forward') / 1e6, 3) AS host_forward_ms,\n"
         "       round(total(host_ns) FILTER (WHERE phase = 'backward') / 1e6, 3) AS host_backward_ms,\n"
         "       round(total(host_ns) / 1e6, 3) AS host_ms,\n"
         "       round(total(kernel_ns) FILTER (WHERE phase = 'forward') / 1e6, 3) AS kernels_forward_ms,\n"
         "       round(total(kernel_ns) FILTER (WHERE phase = 'backward') / 1e6, 3) AS kernels_backward_ms,\n"
         "       round(total(kernel_ns) / 1e6, 3) AS kernels_ms\n"
         "FROM spent\n"
         "GROUP BY place\n"
         "ORDER BY kernels_ms DESC, host_ms DESC"},
        {"time-per-role", "Own time of each part of the model on the host",
         "SELECT coalesce(role, 'none') AS part, count(*) AS calls, round(total(self_ns) / 1e6, 3) AS host_ms,\n"
         "       round(100.0 * total(self_ns) / total(total(self_ns)) OVER (), 1) AS share_pct\n"
         "FROM op\n"
         "GROUP BY part\n"
         "ORDER BY host_ms DESC"},
        {"time-per-step", "Steps, and how much of each was spent in operations on the host",
         "WITH spent AS (SELECT rank, capture, step, total(self_ns) AS self_ns, count(*) AS calls FROM op GROUP BY rank, capture, step)\n"
         "SELECT step.number, round(step.dur_ns / 1e6, 3) AS step_ms, round(spent.self_ns / 1e6, 3) AS operations_ms, spent.calls, step.rank\n"
         "FROM step LEFT JOIN spent ON spent.step = step.number AND spent.rank = step.rank AND spent.capture IS step.capture\n"
         "ORDER BY step.start_ns\n"
         "LIMIT 1000"},
        {"gaps", "Where nothing ran on a lane: the longest pauses between its operations",
         "WITH work AS (\n"
         "  SELECT rank, capture, 'thread ' || thread AS place, start_ns, start_ns + dur_ns AS end_ns, name FROM op\n"
         "  UNION ALL\n"
         "  SELECT rank, capture, 'thread ' || thread, start_ns, start_ns + dur_ns, name FROM runtime\n"
         "  UNION ALL\n"
         "  SELECT rank, capture, 'device ' || device || ', stream ' || stream, start_ns, start_ns + dur_ns, name FROM kernel\n"
         "  UNION ALL\n"
         "  SELECT rank, capture, 'device ' || device || ', stream ' || stream, start_ns, start_ns + dur_ns, kind FROM memcpy\n"
         "  UNION ALL\n"
         "  SELECT rank, capture, 'device ' || device || ', stream ' || stream, start_ns, start_ns + dur_ns, 'memset' FROM memset\n"
         "), ordered AS (\n"
         "  SELECT *, max(end_ns) OVER before AS last_end, lag(name) OVER (PARTITION BY rank, capture, place ORDER BY start_ns) AS after\n"
         "  FROM work\n"
         "  WINDOW before AS (PARTITION BY rank, capture, place ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)\n"
         ")\n"
         "SELECT place, round((start_ns - last_end) / 1e3, 1) AS gap_us, after, name AS before, last_end AS start_ns, rank, capture\n"
         "FROM ordered\n"
         "WHERE start_ns > last_end\n"
         "ORDER BY start_ns - last_end DESC\n"
         "LIMIT 50"},
        {"launch-delay", "From the call that launches a kernel, a copy or a memset to its begin",
         "SELECT work.name, count(*) AS launches, round(avg(work.start_ns - runtime.start_ns) / 1e3, 1) AS mean_us,\n"
         "       round(max(work.start_ns - runtime.start_ns) / 1e3, 1) AS max_us\n"
         "FROM slice AS work\n"
         "CROSS JOIN runtime ON runtime.correlation = work.correlation AND runtime.rank = work.rank AND runtime.capture = work.capture\n"
         "WHERE work.kind IN ('kernel', 'memcpy', 'memset')\n"
         "GROUP BY work.name\n"
         "ORDER BY mean_us DESC\n"
         "LIMIT 50"},
        {"copies", "Copies by direction: number, bytes, rate",
         "SELECT kind, count(*) AS copies, sum(bytes) AS bytes, round(total(dur_ns) / 1e6, 3) AS total_ms,\n"
         "       round(1.0 * sum(bytes) / total(dur_ns), 3) AS gb_per_s\n"
         "FROM memcpy\n"
         "GROUP BY kind\n"
         "ORDER BY total_ms DESC"},
        {"samples", "Counters: how many values, least, mean, most",
         "SELECT name, unit, count(*) AS samples, min(value) AS least, round(avg(value), 3) AS mean, max(value) AS most\n"
         "FROM sample\n"
         "GROUP BY name, unit\n"
         "ORDER BY name"},
        {"loss", "Loss and time of every step of the run",
         "SELECT step, loss, round(duration_ns / 1e6, 3) AS step_ms, tokens\n"
         "FROM steps\n"
         "ORDER BY step"},
    };
    return all;
}

}  // namespace stepscope
