// Fills a buffer ten times under debug labels, on the first Vulkan device: any software driver will do.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        VkResult result = (call);                                                                                      \
        if (result != VK_SUCCESS) {                                                                                    \
            fprintf(stderr, #call ": %d\n", result);                                                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

int main(void) {
    const char *extensions[] = {"VK_EXT_debug_utils"};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &application,
                                          .enabledExtensionCount = 1,
                                          .ppEnabledExtensionNames = extensions};
    VkInstance instance;
    CHECK(vkCreateInstance(&instance_info, NULL, &instance));
#define LOAD(name) PFN_##name name = (PFN_##name)vkGetInstanceProcAddr(instance, #name)
    LOAD(vkQueueBeginDebugUtilsLabelEXT);
    LOAD(vkQueueEndDebugUtilsLabelEXT);
    LOAD(vkCmdBeginDebugUtilsLabelEXT);
    LOAD(vkCmdEndDebugUtilsLabelEXT);

    uint32_t count = 1;
    VkPhysicalDevice physical;
    CHECK(vkEnumeratePhysicalDevices(instance, &count, &physical));
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue_info};
    VkDevice device;
    CHECK(vkCreateDevice(physical, &device_info, NULL, &device));
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);

    VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 1 << 24, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &buffer_info, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &memory_info, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));

    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo commands_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &commands_info, &commands));

    for (uint32_t frame = 0; frame < 10; frame++) {
        VkDebugUtilsLabelEXT whole = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "frame"};
        VkDebugUtilsLabelEXT part = whole;
        part.pLabelName = frame % 2 ? "odd fill" : "even fill";
        VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        CHECK(vkBeginCommandBuffer(commands, &begin));
        vkCmdBeginDebugUtilsLabelEXT(commands, &part);
        vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, frame);
        vkCmdEndDebugUtilsLabelEXT(commands);
        CHECK(vkEndCommandBuffer(commands));
        vkQueueBeginDebugUtilsLabelEXT(queue, &whole);
        VkSubmitInfo submit = {
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
        CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
        CHECK(vkQueueWaitIdle(queue));
        vkQueueEndDebugUtilsLabelEXT(queue);
        usleep(1000);
    }
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
