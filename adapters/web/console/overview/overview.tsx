import { Tabs } from "../../parts/links.js";
import { useResource } from "../../parts/resource.js";
import { admin, read } from "../api.js";
import { SubmissionSwitch } from "../jobs/submission-switch.js";
import { Loaded } from "../shown.js";
import { View } from "../shell/view.js";
import { Charts } from "./charts.js";
import { Notices } from "./notices.js";
import { Tiles } from "./tiles.js";

const EVERY_MS = 5_000;

/** How the installation is doing: what is under way, and what happened lately. */
export function Overview({ query }: { readonly query: URLSearchParams }) {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/overview", { signal })), [], {
    everyMs: EVERY_MS,
  });
  const isDay = query.get("range") === "day";
  const span = isDay ? "the last 24 hours" : "the last hour";
  return (
    <View title="Overview" lead="What is under way, and what happened lately." actions={<SubmissionSwitch />}>
      <Loaded of={resource}>
        {(overview) => (
          <>
            <Notices overview={overview} />
            <Tiles overview={overview} series={isDay ? overview.last_day : overview.last_hour} span={span} />
            <Tabs
              label="Time that the charts show"
              tabs={[
                { label: "Last hour", href: "#/", isCurrent: !isDay },
                { label: "Last 24 hours", href: "#/?range=day", isCurrent: isDay },
              ]}
            />
            <Charts overview={overview} series={isDay ? overview.last_day : overview.last_hour} span={span} />
          </>
        )}
      </Loaded>
    </View>
  );
}
