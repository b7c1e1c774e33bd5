// Reports: questions and dashboards that are sent by mail.
import { graphql, type ResultOf } from '../graph/graphql';

export const list = graphql(`
  query Reports {
    company {
      reports(first: 100) {
        nodes {
          reportId questionId dashboardId frequency hour recipients unsubscribed isPaused isEditable owner nextDueAt lastSentAt lastFailure endedReason
          question { name }
          dashboard { name }
        }
        totalCount
      }
    }
  }
`);

export const preview = graphql(`
  query PreviewReport($questionId: String, $dashboardId: String, $frequency: ReportFrequency!, $hour: Int!) { previewReport(questionId: $questionId, dashboardId: $dashboardId, frequency: $frequency, hour: $hour) { subject text } }
`);

export const create = graphql('mutation CreateReport($input: CreateReportInput!) { createReport(input: $input) { report { reportId } } }');
export const edit = graphql('mutation EditReport($input: EditReportInput!) { editReport(input: $input) { report { reportId } } }');
export const send = graphql('mutation SendReport($input: SendReportInput!) { sendReport(input: $input) { report { reportId } } }');
export const remove = graphql('mutation DeleteReport($input: DeleteReportInput!) { deleteReport(input: $input) { report { reportId } } }');

export type Report = NonNullable<NonNullable<ResultOf<typeof list>['company']>['reports']>['nodes'][number];

export const frequencies: [Report['frequency'], string][] = [['DAILY', 'every day'], ['WEEKLY', 'every Monday'], ['PERIOD_END', 'at the end of each billing period']];

/** Such as "every day at 07:00". */
export const every = ({ frequency, hour }: Report): string => `${frequencies.find(([key]) => key === frequency)?.[1] ?? ''} at ${String(hour).padStart(2, '0')}:00`;

/** Why a report ended by itself. */
export const ends: Record<NonNullable<Report['endedReason']>, string> = {
  OWNER_GONE: 'its owner is no user any more', PERMISSION_LOST: 'its owner may not ask this any more', QUESTION_GONE: 'its owner does not see it any more', NOBODY_LEFT: 'nobody gets it any more',
};
