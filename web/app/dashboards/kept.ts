// The dashboards that are kept: what the page reads and sends.
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import { kept } from '../usage/kept';

export const list = graphql(`
  query KeptDashboards { company { dashboards(first: 100) { nodes { dashboardId name description folder isShared isEditable owner } totalCount } } }
`);

export const one = graphql(`
  query KeptDashboard($dashboardId: String!) { dashboard(by: {dashboardId: $dashboardId}) {
    dashboardId name description folder isShared isEditable version owner refreshMinutes
    common { span firstDay lastDay groupId tagName physicalId }
    tiles { tileId column row width height question { ...Kept } definition { measure interval split chart span firstDay lastDay compare groupId tagName physicalId } }
  } }
`, [kept]);

export const create = graphql('mutation CreateDashboard($input: CreateDashboardInput!) { createDashboard(input: $input) { dashboard { dashboardId } } }');
export const edit = graphql('mutation EditDashboard($input: EditDashboardInput!) { editDashboard(input: $input) { dashboard { dashboardId } } }');
export const remove = graphql('mutation DeleteDashboard($input: DeleteDashboardInput!) { deleteDashboard(input: $input) { dashboard { dashboardId } } }');

export type Listed = NonNullable<NonNullable<NonNullable<ResultOf<typeof list>['company']>['dashboards']>['nodes']>[number];
export type Kept = NonNullable<ResultOf<typeof one>['dashboard']>;
export type TileInput = NonNullable<VariablesOf<typeof create>['input']['tiles']>[number];
