//! Recipes of nsys that are no query of the same name. `docs/src/recipes.md` has all of them.

/// The name of a recipe, and the command that answers it; empty if nothing does.
const RECIPES: [(&str, &str); 15] = [
    ("diff", "nsq diff A B"),
    ("gfx_hotspot", "nsq run REPORT --query cpu_hot"),
    ("gpu_vram_usage_trace", ""),
    ("mpi_sum", "nsq run REPORT --query mpi_event_sum"),
    ("nccl_gpu_overlap_trace", "nsq run REPORT --query comm_overlap"),
    ("nccl_gpu_proj_sum", "nsq run REPORT --query nvtx_gpu_proj_sum --nvtx '*@NCCL'"),
    ("nccl_gpu_time_util_map", "nsq run REPORT --query cuda_gpu_time_util_map"),
    ("nccl_straggler", "nsq run REPORTS --query stragglers"),
    ("network_map_aws", ""),
    ("nic_metric_map", "nsq run REPORT --query network_traffic_map"),
    ("nvlink_sum", "nsq run REPORT --query link_use"),
    ("nvtx_cpu_topdown", "nsq run REPORT --query nvtx_cpu_tree"),
    ("s3_access_sum", ""),
    ("storage_util_map", "nsq run REPORT --query file_access_sum"),
    ("ucx_gpu_time_util_map", "nsq run REPORT --query mpi_gpu_time_util_map -p library=ucx"),
];

/// The help for an unknown query that is a recipe of nsys.
pub fn recipe_help(name: &str) -> Option<String> {
    let (_, command) = RECIPES.iter().find(|(recipe, _)| *recipe == name)?;
    Some(match *command {
        "" => {
            "it is a recipe of nsys that nsq does not answer: its tables are not documented or not read."
                .to_owned()
        }
        command => format!("it is a recipe of nsys: `{command}` answers it."),
    })
}
