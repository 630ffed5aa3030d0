/** The charts of a result: error along position, the heat map, ULP distances, the worst of each head or length. */
import type { ReactElement } from "react";
import { useChartActions, useTable } from "../../charts/chart_pane.tsx";
import type { ChartsProps } from "./chart_props.tsx";
import { ComparePane } from "./compare_pane.tsx";
import { GroupsPane } from "./groups_pane.tsx";
import { MapPane } from "./map_pane.tsx";
import { PositionPane } from "./position_pane.tsx";
import { UlpPane } from "./ulp_pane.tsx";

function FirstPane(props: ChartsProps): ReactElement {
  const [table, onTable] = useTable("position");
  const { other, subject, extents, selected, execution } = props;
  if (other === null) return <PositionPane {...props} />;
  return <ComparePane {...{ subject, other, extents, selected, execution, table, onTable }} />;
}

export function Charts(props: ChartsProps): ReactElement {
  useChartActions();
  return (
    <div className="page parity-charts">
      <FirstPane {...props} />
      <MapPane {...props} />
      <div className="page parity-lower hl">
        <UlpPane {...props} />
        <GroupsPane {...props} />
      </div>
    </div>
  );
}
