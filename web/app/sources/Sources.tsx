import { Empty } from '../shell/parts';
import { useMay, useViewer } from '../shell/viewer';
import { Elements } from './Elements';
import { Frame } from './Frame';
import { Rejects } from './Rejects';
import { SourceList } from './SourceList';
import { UsageBySource } from './UsageBySource';
import { UpstreamList } from './UpstreamList';
import { Waiting } from './Waiting';

/** Where usage comes from, and what became of it. */
export default function Sources({ params }: { params: URLSearchParams }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  return (
    <Frame current="sources">
      {may && !isRestricted && <SourceList />}
      {may && !isRestricted && <UpstreamList />}
      {may ? <UsageBySource /> : <Empty>You need the permission View Statistics Overview to see where usage comes from.</Empty>}
      {may && <Elements some={params.get('late') === '1'} />}
      {may && !isRestricted && <Waiting />}
      {may && !isRestricted && <Rejects />}
    </Frame>
  );
}
