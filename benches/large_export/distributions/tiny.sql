-- Many tiny kernels: all but every fiftieth take at most 3 µs, and most are elementwise.
UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET end = start + min(end - start, 1000 + rowid % 2000)
WHERE rowid % 50 > 0;

INSERT INTO StringIds
SELECT max(id) + 1, 'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)'
FROM StringIds;

UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET demangledName = (SELECT max(id) FROM StringIds)
WHERE rowid % 50 > 10;
