import { useMay, useViewer } from '../shell/viewer';
import { Empty } from '../shell/parts';
import { Elements } from './Elements';
import { Rejects } from './Rejects';
import { Waiting } from './Waiting';

/** Where usage comes from, and what became of it. */
export default function Sources({ params }: { params: URLSearchParams }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  return (
    <div className="page">
      <div className="heading"><h1>Sources</h1></div>
      {may ? <Elements some={params.get('late') === '1'} /> : <Empty>You need the permission View Statistics Overview to see where usage comes from.</Empty>}
      {may && !isRestricted && <Waiting />}
      {may && !isRestricted && <Rejects />}
    </div>
  );
}
