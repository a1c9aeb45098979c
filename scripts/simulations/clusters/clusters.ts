import { simulationOf } from '../random-story.js'
import { ClusterRun } from './cluster-run.js'
import { judge } from './judge.js'
import { story } from './story.js'

export const clusters = simulationOf({
  name: 'clusters',
  about: 'two to four instances, their log and the HTTP between them: all that can befall them',
  story,
  async run(given) {
    const run = new ClusterRun(given)
    await run.run()
    const trace = await run.trace()
    await judge(run)
    await run.cluster.close()
    return { trace }
  },
})
